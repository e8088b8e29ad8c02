import { expect, test } from "vitest";
import type { Outcome } from "#core/outcome.ts";
import { dispatchKey } from "#core/run.ts";
import { create, reply, setUp } from "#test/support/engine/set-up.ts";
import { newRecord, newThread, requestOf } from "#test/support/engine/small-decide.ts";
import { success } from "#test/support/engine/stand-in-platform.ts";

const day = 24 * 3_600_000;
const later: Outcome = {
  ok: false,
  fault: { certainty: "refused", retryable: true, reason: "later", retryAfterMs: 20_000 },
};

test.each([-90_000, -day, day])("a step of the clock by %d ms changes no wait", async (stepMs) => {
  const { engine, ask, chat, clock } = setUp();
  await engine.start();
  chat.answer = (effect) => (chat.tries.length === 1 ? later : success(effect));
  await ask("chat:a", reply("r1", "chat:a"));
  await clock.advance(0);
  clock.step(stepMs);
  await ask("chat:a", reply("r2", "chat:a"));
  await clock.advance(19_999);
  expect(chat.tries).toHaveLength(1);
  await clock.advance(1);
  expect(chat.tries.map(({ id }) => id)).toEqual(["r1", "r1", "r2"]);
});

test("a wait that began while the clock was a day ahead is as long as it was meant to be", async () => {
  const { engine, ask, chat, clock, restart } = setUp();
  await engine.start();
  chat.answer = () => later;
  clock.step(day);
  await ask("chat:a", reply("r1", "chat:a"));
  await clock.advance(0);
  clock.step(-day);
  chat.answer = success;
  await clock.advance(10_000);
  await engine.stop();
  const next = restart();
  await next.engine.start();
  await clock.advance(19_999);
  expect(chat.tries).toHaveLength(1);
  await clock.advance(1);
  expect(chat.tries.length).toBeGreaterThan(1);
  expect(next.store.get("chat:a").effects).toEqual([]);
});

test("a document of an earlier version, with a moment a day ahead, waits for five minutes at most", async () => {
  const { engine, api, clock, store } = setUp();
  const notBefore = new Date(clock.now() + day).toISOString();
  const runs = [newRecord("d1", { request: requestOf("d1") })];
  store.put(newThread("chat:a", { runs, effects: [create("d1", { notBefore, tries: 3 })] }));
  await engine.start();
  await clock.advance(5 * 60_000 - 1);
  expect(api.count("list")).toBe(0);
  await clock.advance(3 * 60_000);
  expect(api.count("create")).toBe(1);
});

test("timers keep their time when the clock is put back", async () => {
  const { engine, ask, chat, clock } = setUp({ limits: { effectMs: 30_000 } });
  await engine.start();
  chat.answer = (effect) => (chat.tries.length === 1 ? new Promise(() => {}) : success(effect));
  await ask("chat:a", reply("r1", "chat:a"));
  await clock.advance(10_000);
  clock.step(-day);
  await clock.advance(22_000);
  expect(chat.tries).toHaveLength(2);
});

test("after the clock was put back, an earlier try is looked for as far back as the effect is old", async () => {
  const { engine, api, clock, store } = setUp();
  const hour = 3_600_000;
  const ago = (ms: number): string => new Date(clock.now() - ms).toISOString();
  api.pageSize = 1;
  api.add({ run_id: "mine", created_at: ago(3 * hour), metadata: { [dispatchKey]: "d1" } });
  for (const ms of [2 * hour, hour, 0]) api.add({ run_id: `other-${ms}`, created_at: ago(ms) });
  const runs = [newRecord("d1", { request: requestOf("d1") })];
  const effects = [create("d1", { since: ago(600_000), ageMs: 3 * hour, tries: 3, uncertain: true })];
  store.put(newThread("chat:a", { runs, effects }));
  await engine.start();
  await clock.advance(5 * 60_000);
  expect(api.count("create")).toBe(0);
  expect(store.get("chat:a").runs[0]?.runId).toBe("mine");
});
