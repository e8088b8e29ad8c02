import { expect, test } from "vitest";
import { hunt, planted } from "#test/simulation/planted/hunt.ts";
import { fingerprint, type History, tell } from "#test/simulation/story/history.ts";
import { found } from "./found.ts";

const atOnce = 16;
/** For both sets together. A slow machine simulates fewer fresh histories, but never fewer than `leastFresh`. */
const budgetMs = 9_000;
const fixedSeeds = 400;
const leastFresh = 100;
const mostFresh = 1_500;

/** For each failed history, the command that replays it, and the broken promise. */
const failures = (histories: readonly History[]): string[] =>
  histories.flatMap(({ seed, violations: [first] }) =>
    first === undefined ? [] : [`npm run simulate -- --seed ${seed}   # ${first.invariant}: ${first.what}`],
  );

async function tellAll(from: number, count: number, until = Number.POSITIVE_INFINITY): Promise<History[]> {
  const histories: History[] = [];
  while (histories.length < count && (performance.now() < until || histories.length < leastFresh)) {
    const next = from + histories.length;
    const seeds = Array.from({ length: Math.min(atOnce, count - histories.length) }, (_, at) => next + at);
    histories.push(...(await Promise.all(seeds.map((seed) => tell(seed)))));
  }
  return histories;
}

test("the promises hold in a fixed set of histories and in a fresh set", async () => {
  const until = performance.now() + budgetMs;
  expect(failures(await tellAll(1, fixedSeeds))).toEqual([]);
  const from = 1_000_000 + Math.floor(Math.random() * 1_000_000_000);
  const fresh = await tellAll(from, mostFresh, until);
  expect(fresh.length).toBeGreaterThanOrEqual(leastFresh);
  expect(failures(fresh), `fresh seeds from ${from}`).toEqual([]);
});

test.each(found)("the defect found by seed $seed stays fixed: $what", async ({ seed }) => {
  expect(failures([await tell(seed)])).toEqual([]);
});

test("a seed gives the same history each time, alone or beside others", async () => {
  const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
  const alone: History[] = [];
  for (const seed of seeds) alone.push(await tell(seed, { recording: true }));
  const together = await Promise.all(seeds.map((seed) => tell(seed, { recording: true })));
  expect(together.map(fingerprint)).toEqual(alone.map(fingerprint));
  expect(new Set(alone.map(fingerprint)).size).toBe(seeds.length);
  expect(alone.every(({ lines }) => lines.length > 0)).toBe(true);
});

test.each(planted)("a defect planted against promise $promise is caught: $name", async (each) => {
  expect(await hunt(each)).not.toBeNull();
});
