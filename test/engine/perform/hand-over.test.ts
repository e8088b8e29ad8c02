import { expect, test } from "vitest";
import type { HandOverEffect } from "#core/effect.ts";
import { command, reply, setUp, since } from "#test/support/engine/set-up.ts";
import { newRecord, newThread } from "#test/support/engine/small-decide.ts";

const handOver = (ref: string, event = command("chat:a")): HandOverEffect => ({
  kind: "hand-over",
  id: `h-${event.id}`,
  to: "engine",
  ref,
  event,
  since,
  tries: 0,
});

test("a handed-over command is decided in the run's thread, and its effects are performed", async () => {
  const { engine, ask, small, store, forge, clock } = setUp();
  await engine.start();
  store.put(newThread("forge:x#1", { runs: [newRecord("d1", { runId: "run-1", open: false })] }));
  const effect = handOver("run:run-1");
  small.asks.set(effect.event.id, [reply("r1", "forge:x#1")]);
  await ask("chat:a", effect);
  await clock.advance(0);
  expect(small.outcomes).toContainEqual({
    effect: effect.id,
    outcome: { ok: true, kind: "hand-over", taken: true },
  });
  expect(forge.tries.map(({ id }) => id)).toEqual(["r1"]);
  expect(store.get("forge:x#1").seen).toEqual([effect.event.id]);
});

test("a command for a run without a thread is not accepted and begins no thread", async () => {
  const { engine, ask, small, store, clock } = setUp();
  await engine.start();
  const effect = handOver("run:nobody");
  await ask("chat:a", effect);
  await clock.advance(0);
  expect(small.outcomes).toEqual([
    { effect: effect.id, outcome: { ok: true, kind: "hand-over", taken: false } },
  ]);
  expect(store.size()).toBe(1);
});

test("a command handed over twice, as after a crash, takes effect once", async () => {
  const before = setUp();
  before.store.put(newThread("forge:x#1", { runs: [newRecord("d1", { runId: "run-1", open: false })] }));
  const effect = handOver("run:run-1");
  await before.ask("chat:a", effect);
  await before.engine.accept({ ...effect.event, place: "forge:x#1" });

  const { engine, small, store, forge, clock } = before.restart();
  small.asks.set(effect.event.id, [reply("r1", "forge:x#1")]);
  await engine.start();
  await clock.advance(0);
  expect(forge.tries).toEqual([]);
  expect(store.get("chat:a").effects).toEqual([]);
});

test("a command that can't be saved in the other thread is handed over again later", async () => {
  const { engine, ask, small, store, clock } = setUp();
  await engine.start();
  store.put(newThread("forge:x#1", { runs: [newRecord("d1", { runId: "run-1", open: false })] }));
  const effect = handOver("run:run-1");
  const change = store.change.bind(store);
  store.change = (ref, fn) => (ref === "run:run-1" ? Promise.reject(new Error("no")) : change(ref, fn));
  await ask("chat:a", effect);
  await clock.advance(0);
  expect(small.outcomes[0]?.outcome).toMatchObject({ fault: { certainty: "not-sent", retryable: true } });
  store.change = change;
  await clock.advance(1_000);
  expect(small.outcomes[1]?.outcome).toEqual({ ok: true, kind: "hand-over", taken: true });
});
