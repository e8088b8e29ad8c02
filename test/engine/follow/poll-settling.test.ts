import { expect, test } from "vitest";
import { isSettled } from "#core/thread.ts";
import { mention, place, reply } from "#test/support/core/story.ts";
import { started } from "./started.ts";

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

test("a run does not settle early because our clock was ahead for a moment just after a follow-up", async () => {
  const { clock, store, engine } = await started("SUCCEEDED");
  const change = store.change.bind(store);
  let isAhead = false;
  store.change = async (ref, fn) => {
    const changed = await change(ref, fn);
    const isTaken = store.get(place).runs[0]?.followUps === 1;
    if (isTaken !== isAhead) clock.step(isTaken ? 24 * 3_600_000 : -24 * 3_600_000);
    isAhead = isTaken;
    return changed;
  };
  await engine.accept(reply("one more thing"));
  await clock.advance(1_000);
  expect(isAhead).toBe(true);
  store.change = change;
  clock.step(-24 * 3_600_000);
  await clock.advance(60_000);
  expect(isSettled(store.get(place))).toBe(false);
  await clock.advance(60_000);
  expect(isSettled(store.get(place))).toBe(true);
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

test("a BLOCKED that has yet to settle is reported before the next follow-up", async () => {
  const { clock, api, engine, told } = await started("BLOCKED");
  const { promise, resolve } = Promise.withResolvers<void>();
  api.afterwards = (call) => {
    if (call !== "followUp") return;
    api.turn("run-1", api.count("followUp") > 1 ? "INPROGRESS" : "BLOCKED");
    return promise;
  };
  await engine.accept(reply("go on"));
  await clock.advance(30_000);
  resolve();
  await clock.advance(30_000);
  await engine.accept(reply("and on"));
  await clock.advance(20 * 60_000);
  expect(told()).toBe(2);
});

test("a restart starts the settling time again, since the clock may have been set meanwhile", async () => {
  const { clock, store, engine, newEngine, told, api } = await started("SUCCEEDED");
  await engine.accept(reply("one more thing"));
  await clock.advance(10_000);
  await engine.stop();
  clock.step(3 * 3_600_000);
  await newEngine().start();
  await clock.advance(60_000);
  expect(isSettled(store.get(place))).toBe(false);
  api.turn("run-1", "INPROGRESS");
  await clock.advance(10_000);
  api.turn("run-1", "SUCCEEDED");
  await clock.advance(3 * 60_000);
  expect(isSettled(store.get(place))).toBe(true);
  expect(told()).toBe(2);
});

test("setting the clock forward does not shorten the settling time", async () => {
  const { clock, store, engine, api, told } = await started("SUCCEEDED");
  await engine.accept(reply("one more thing"));
  await clock.advance(0);
  clock.step(3_600_000);
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

test("an end that could not be saved is told although the run has gone on since", async () => {
  const { clock, store, api, replies } = await started("INPROGRESS");
  store.broken = new Error("no space left");
  api.turn("run-1", "FAILED");
  await clock.advance(10_000);
  api.turn("run-1", "INPROGRESS");
  await clock.advance(10_000);
  store.broken = null;
  await clock.advance(60_000);
  expect(replies()).toEqual([expect.stringContaining("The run failed")]);
  api.turn("run-1", "SUCCEEDED");
  await clock.advance(60_000);
  expect(replies()).toEqual([expect.anything(), expect.stringContaining("The run succeeded")]);
});
