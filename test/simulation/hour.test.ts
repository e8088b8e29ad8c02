import { beforeAll, expect, test } from "vitest";
import type { Effect } from "#core/effect.ts";
import { isElsewhere, judgeHour } from "#test/simulation/judge/hour.ts";
import { tell } from "#test/simulation/story/history.ts";
import type { Plant } from "#test/simulation/world/bot-process.ts";
import { type Hour, type Outage, sicknesses, systems, tellHour } from "./hour.ts";

const seed = 1;
const outages: readonly Outage[] = systems.flatMap((system) =>
  sicknesses.map((sickness) => ({ system, sickness })),
);
let calmHour: Hour;

beforeAll(async () => {
  calmHour = await tellHour(seed, null);
  expect(calmHour.violations).toEqual([]);
});

test.each(outages)(
  "when $system $sickness for an hour everything is accepted, shown and delivered once, and nothing else is delayed",
  async (outage) => {
    const hour = await tellHour(seed, outage);
    expect(judgeHour(hour, outage, calmHour)).toEqual([]);
    // The history contains the cases that the judge examines.
    expect(hour.deeds.length).toBe(calmHour.deeds.length);
    expect(hour.endedMeanwhile).toBeGreaterThan(0);
    const names = [...calmHour.milestones.keys()];
    expect(names.filter((name) => isElsewhere(name, outage.system)).length).toBeGreaterThan(50);
    if (outage.system === "agent-runs" && outage.sickness !== "crawls") {
      expect(hour.waited.size).toBeGreaterThan(20);
    }
  },
);

test("a bot killed in the middle of the hour does all of its unfinished work once", async () => {
  const calmly = await tellHour(seed, null, { killed: true });
  const asked = calmly.deeds.filter(({ acked }) => acked === "saved").length;
  expect(asked).toBeGreaterThan(calmHour.deeds.length - 5);
  // Each system and each kind of outage once; the pairs differ from run to run.
  const killing = ["refuses", "garbles", "hangs"] as const;
  const offset = Math.floor(Math.random() * killing.length);
  for (const [index, sickness] of killing.entries()) {
    const system = systems[(index + offset) % systems.length] ?? systems[0];
    const outage = { system, sickness };
    const hour = await tellHour(seed, outage, { killed: true });
    expect(judgeHour(hour, outage, calmly), `${system} ${sickness}`).toEqual([]);
  }
});

test("the promises hold in random histories with outages of every kind that last about an hour", async () => {
  const from = 1_000_000 + Math.floor(Math.random() * 1_000_000_000);
  const seeds = [...Array(20).keys()].flatMap((index) => [index + 1, from + index]);
  const failed: string[] = [];
  for (const seed of seeds) {
    const { violations } = await tell(seed, { hours: true });
    for (const { invariant, what } of violations) {
      failed.push(`npm run simulate -- --hours --seed ${seed}   # ${invariant}: ${what}`);
    }
  }
  expect(failed).toEqual([]);
});

/** A bot with different waits between two tries. */
const waiting = (other: (nowMs: number, untilMs: number) => number): Plant => ({
  decide: (decide) => (thread, event, nowMs) => {
    const decision = decide(thread, event, nowMs);
    if (decision.kind !== "keep") return decision;
    const change = (effect: Effect): Effect => {
      if (effect.notBefore === undefined) return effect;
      const notBefore = new Date(other(nowMs, Date.parse(effect.notBefore))).toISOString();
      return { ...effect, notBefore };
    };
    return { ...decision, thread: { ...decision.thread, effects: decision.thread.effects.map(change) } };
  },
});
const minute = 60_000;
const planted: readonly { readonly name: string; readonly plant: Plant }[] = [
  {
    name: "never waits longer than half a minute",
    plant: waiting((now, until) => Math.min(until, now + minute / 2)),
  },
  {
    name: "makes all retries at the same instant",
    plant: waiting((_, until) => Math.ceil(until / (5 * minute)) * 5 * minute),
  },
];

test.each(planted.flatMap(({ name, plant }) => systems.map((system) => ({ name, plant, system }))))(
  "the judge finds that a bot which $name floods $system",
  async ({ plant, system }) => {
    const outage = { system, sickness: "refuses" } as const;
    const wrongs = judgeHour(await tellHour(seed, outage, { plant }), outage, calmHour);
    expect(wrongs.filter((wrong) => / requests (to|in|at) /.test(wrong))).not.toEqual([]);
  },
);
