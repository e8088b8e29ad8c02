import { expect, test } from "vitest";
import { createDecide } from "#core/decide/decide.ts";
import { isSettled } from "#core/thread.ts";
import { createEngine } from "#engine/engine.ts";
import { mention, place, reply, rules } from "#test/support/core/story.ts";
import { createHandClock } from "#test/support/engine/hand-clock.ts";
import { createMemoryStore } from "#test/support/engine/memory-store.ts";
import { StandInApi } from "#test/support/engine/stand-in-api.ts";
import { createStandInPlatform } from "#test/support/engine/stand-in-platform.ts";
import { silentLog } from "#test/support/logs.ts";

/** A dispatch that has ended or blocked, decided by the real core. */
async function started(state: string) {
  const clock = createHandClock();
  const store = createMemoryStore();
  const api = new StandInApi(clock);
  const slack = createStandInPlatform("slack");
  const newEngine = () =>
    createEngine({
      store,
      agentRuns: api,
      transcripts: api,
      factories: api,
      platforms: [slack],
      decide: createDecide(rules),
      clock,
      log: silentLog,
      runName: rules.runName,
      pollIntervalMs: 2_000,
    });
  const engine = newEngine();
  await engine.start();
  await engine.accept(mention("fix it"));
  await clock.advance(2_000);
  api.conversations.set("run-1", [{ role: "assistant", text: "Done." }]);
  api.turn("run-1", state);
  await clock.advance(5_000);
  const told = () => slack.tries.filter(({ effect }) => effect.kind === "reply").length;
  return { clock, store, api, slack, engine, newEngine, told };
}

test("a run that does not change after a follow-up settles, and its end is reported once", async () => {
  const { clock, store, engine, told } = await started("SUCCEEDED");
  expect(isSettled(store.get(place))).toBe(true);
  await engine.accept(reply("one more thing"));
  await clock.advance(60_000);
  expect(isSettled(store.get(place))).toBe(false);
  await clock.advance(10 * 60_000);
  expect(isSettled(store.get(place))).toBe(true);
  expect(told()).toBe(1);
});

test("a run settles in time even if sweeps show only changes of other runs", async () => {
  const { clock, store, engine, api } = await started("SUCCEEDED");
  await engine.accept(reply("one more thing"));
  await engine.accept(mention("another", { place: "slack:T1:C1:200.1" }));
  for (let seconds = 0; seconds < 160; seconds += 10) {
    await clock.advance(10_000);
    api.turn("run-2", "INPROGRESS");
  }
  expect(isSettled(store.get(place))).toBe(true);
});

test("the next end of a run that continues late after a follow-up is reported", async () => {
  const { clock, store, engine, api, told } = await started("SUCCEEDED");
  await engine.accept(reply("one more thing"));
  await clock.advance(60_000);
  api.turn("run-1", "INPROGRESS");
  await clock.advance(60_000);
  api.turn("run-1", "SUCCEEDED");
  await clock.advance(10 * 60_000);
  expect(told()).toBe(2);
  expect(isSettled(store.get(place))).toBe(true);
});

test("a BLOCKED seen before the follow-up's outcome is saved is reported", async () => {
  const { clock, api, engine, told } = await started("BLOCKED");
  expect(told()).toBe(1);
  const { promise, resolve } = Promise.withResolvers<void>();
  api.afterwards = (call) => {
    if (call !== "followUp") return;
    api.turn("run-1", "BLOCKED");
    return promise;
  };
  await engine.accept(reply("go on"));
  await clock.advance(30_000);
  resolve();
  await clock.advance(20 * 60_000);
  expect(told()).toBe(2);
});

test("a restart does not start the settling time again", async () => {
  const { clock, store, engine, newEngine, told } = await started("SUCCEEDED");
  await engine.accept(reply("one more thing"));
  await clock.advance(60_000);
  await engine.stop();
  await newEngine().start();
  await clock.advance(20_000);
  expect(isSettled(store.get(place))).toBe(false);
  await clock.advance(25_000);
  expect(isSettled(store.get(place))).toBe(true);
  expect(told()).toBe(1);
});

test("setting the clock forward does not shorten the settling time", async () => {
  const { clock, store, engine, api, told } = await started("SUCCEEDED");
  const { now } = clock;
  await engine.accept(reply("one more thing"));
  await clock.advance(0);
  clock.now = () => now() + 3_600_000;
  await clock.advance(30_000);
  expect(isSettled(store.get(place))).toBe(false);
  api.turn("run-1", "INPROGRESS");
  await clock.advance(60_000);
  api.turn("run-1", "SUCCEEDED");
  await clock.advance(10 * 60_000);
  expect(told()).toBe(2);
});

test("an end that no sweep has seen is reported with its own answer before a follow-up continues the run", async () => {
  const { clock, api, engine, slack } = await started("INPROGRESS");
  const stamp = () => new Date(clock.now()).toISOString();
  api.conversations.set("run-1", [
    { role: "user", text: "fix it", at: "2026-01-01T00:00:00Z" },
    { role: "assistant", text: "the first answer", at: stamp() },
  ]);
  await clock.advance(1);
  api.turn("run-1", "SUCCEEDED");
  api.afterwards = (call) => {
    if (call !== "followUp") return;
    const said = api.conversations.get("run-1") ?? [];
    api.conversations.set("run-1", [
      ...said.slice(0, 2),
      { role: "user", text: said.at(-1)?.text ?? "", at: new Date(clock.now() + 1_000).toISOString() },
    ]);
    api.turn("run-1", "INPROGRESS");
  };
  await engine.accept(reply("one more thing"));
  await clock.advance(1_500);
  const said = api.conversations.get("run-1") ?? [];
  api.conversations.set("run-1", [...said, { role: "assistant", text: "the second answer", at: stamp() }]);
  await clock.advance(1);
  api.turn("run-1", "SUCCEEDED");
  await clock.advance(5 * 60_000);
  const replies = slack.tries.flatMap(({ effect }) =>
    effect.kind === "reply" ? [JSON.stringify(effect)] : [],
  );
  expect(replies.map((text) => /the (first|second) answer/.exec(text)?.[1])).toEqual(["first", "second"]);
});

test("a blocked run costs no writes and hardly any requests", async () => {
  const { clock, store, api, engine } = await started("BLOCKED");
  await engine.accept(mention("another", { place: "slack:T1:C1:200.1" }));
  await clock.advance(2_000);
  api.turn("run-2", "INPROGRESS");
  await clock.advance(10 * 60_000);
  const [changes, fetches] = [store.changes, api.count("fetch")];
  await clock.advance(6 * 60 * 60_000);
  expect(store.changes).toBe(changes);
  expect(api.count("fetch") - fetches).toBeLessThan(12);
});
