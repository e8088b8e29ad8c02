import { expect, test } from "vitest";
import { isSettled } from "#core/thread.ts";
import { mention, place, reply } from "#test/support/core/story.ts";
import { createRandomTurns } from "./random-turns.ts";
import { started } from "./started.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

test.each([
  ["without the API's time", false],
  ["with the API's time", true],
])(
  "an end is told within a minute after the API's clock was set back by 2 minutes, %s",
  async (_, givesTime) => {
    const { clock, api, told } = await started("INPROGRESS", (it) => {
      it.givesTime = givesTime;
    });
    api.skewMs = -2 * minuteMs;
    api.turn("run-1", "SUCCEEDED");
    await clock.advance(35_000);
    expect(told()).toBe(1);
  },
);

test("an end is told soon after the API's clock was hours ahead for a moment", async () => {
  const { clock, api, told } = await started("INPROGRESS", (it) => {
    it.givesTime = true;
  });
  api.skewMs = 3 * hourMs;
  api.turn("run-1", "INPROGRESS");
  await clock.advance(5_000);
  api.skewMs = 0;
  api.turn("run-1", "SUCCEEDED");
  await clock.advance(minuteMs);
  expect(told()).toBe(1);
});

test("an end is told though the API's clock, whose time it doesn't give, was hours ahead for a moment", async () => {
  const { clock, api, told } = await started("INPROGRESS");
  api.skewMs = 3 * hourMs;
  api.turn("run-1", "INPROGRESS");
  await clock.advance(5_000);
  api.skewMs = 0;
  api.turn("run-1", "SUCCEEDED");
  await clock.advance(2 * minuteMs);
  expect(told()).toBe(1);
});

test.each([
  ["set back by 90 seconds", -90_000],
  ["set back by a day", -24 * hourMs],
  ["set ahead by a day", 24 * hourMs],
])("an end is told in time while our own clock is %s", async (_, stepMs) => {
  const { clock, api, engine, told } = await started("INPROGRESS");
  clock.step(stepMs);
  await engine.accept(mention("another", { place: "slack:T1:C1:200.1" }));
  await clock.advance(5_000);
  api.turn("run-1", "SUCCEEDED");
  await clock.advance(3_000);
  expect(told()).toBe(1);
});

test.each([
  ["behind", -3 * hourMs],
  ["ahead", 3 * hourMs],
])("a new run is followed at once though the API's clock is hours %s", async (_, skewMs) => {
  for (const givesTime of [false, true]) {
    const { clock, api, engine, told } = await started("SUCCEEDED", (it) => {
      it.skewMs = skewMs;
      it.givesTime = givesTime;
    });
    expect(told()).toBe(1);
    await clock.advance(10 * minuteMs);
    await engine.accept(mention("another", { place: "slack:T1:C1:200.1" }));
    await clock.advance(2_000);
    api.turn("run-2", "SUCCEEDED");
    await clock.advance(5_000);
    expect(told()).toBe(2);
  }
});

test("a run's end is told once while lists show how it was a minute ago, and few fetches are made", async () => {
  const { clock, api, engine, told, store } = await started("BLOCKED");
  expect(told()).toBe(1);
  api.listLagMs = minuteMs;
  await engine.accept(reply("go on"));
  await clock.advance(1_000);
  for (const state of ["INPROGRESS", "BLOCKED", "INPROGRESS", "SUCCEEDED"]) {
    await clock.advance(10_000);
    api.turn("run-1", state);
    if (state === "BLOCKED") {
      await engine.accept(reply("and on"));
      await clock.advance(100);
    }
  }
  const fetches = api.count("fetch");
  await clock.advance(10 * minuteMs);
  expect(api.count("fetch") - fetches).toBeLessThan(12);
  expect(told()).toBe(3);
  expect(isSettled(store.get(place))).toBe(true);
});

test("a list that stays outdated causes few fetches, and brings no old state back", async () => {
  const { clock, api, engine, store } = await started("BLOCKED");
  await engine.accept(reply("go on"));
  await clock.advance(5_000);
  const list = api.list.bind(api);
  api.list = async (query) => {
    const page = await list(query);
    const runs = page.runs.map((run) => ({ ...run, state: "BLOCKED", updated_at: "2025-12-31T23:59:00Z" }));
    return { ...page, runs };
  };
  api.turn("run-1", "INPROGRESS");
  await clock.advance(10 * minuteMs);
  expect(store.get(place).runs[0]?.run?.state).toBe("INPROGRESS");
  expect(api.count("fetch")).toBeLessThan(15);
});

test("a run that returns to a state at the very time of an earlier snapshot is seen there", async () => {
  const { clock, api, store, told } = await started("BLOCKED");
  const blocked = api.runs.get("run-1");
  if (blocked === undefined) throw new Error("there is no run");
  api.turn("run-1", "INPROGRESS");
  await clock.advance(5_000);
  api.runs.set("run-1", blocked);
  await clock.advance(5 * minuteMs);
  expect(store.get(place).runs[0]?.run?.state).toBe("BLOCKED");
  expect(told()).toBe(1);
});

test.each([
  ["lists lag", 0],
  ["all reading lags", 5_000],
])("every end and every question is told once while the clocks jitter and step, and %s", async (_, lag) => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const it = await started("INPROGRESS", (api) => {
      api.givesTime = seed % 2 === 0;
    });
    const turns = createRandomTurns(seed, lag);
    for (const { state, skewMs, listLagMs, fetchLagMs, stepMs, waitMs } of turns) {
      Object.assign(it.api, { skewMs, listLagMs, fetchLagMs });
      it.clock.step(stepMs);
      if (state === "follow-up") await it.engine.accept(reply("go on"));
      else it.api.turn("run-1", state);
      await it.clock.advance(waitMs);
    }
    const ends = turns.filter(({ state }) => state === "BLOCKED" || state === "SUCCEEDED").length;
    Object.assign(it.api, { listLagMs: 0, fetchLagMs: 0 });
    await it.clock.advance(10 * minuteMs);
    expect({ seed, told: it.told() }).toEqual({ seed, told: ends });
    expect(it.store.get(place).runs[0]?.run?.state).toBe(it.api.runs.get("run-1")?.state);
  }
});
