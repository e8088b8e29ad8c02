import { expect, test } from "vitest";
import { tellHistory } from "./history.ts";

/** Another one at each run; `npm run kill -- --seed` replays it, as far as processes can be replayed. */
const seed = Math.floor(Math.random() * 1e9);

test("killed at random moments, the real bot loses nothing, repeats nothing and ends in order", {
  timeout: 120_000,
}, async () => {
  const { violations, deeds, outside } = await tellHistory({
    seed,
    requests: 150,
    kills: 12,
    serviceKills: 0,
    quietWithinMs: 30_000,
    settleWithinMs: 0,
  });
  expect(violations, `seed ${seed}`).toEqual([]);
  expect(deeds.filter(({ ackedAt }) => ackedAt !== null).length).toBeGreaterThan(50);
  expect(outside.runs.length).toBeGreaterThan(10);
});

test("so it does when the service is killed as well, whose queued runs run and interrupted ones are told", {
  timeout: 120_000,
}, async () => {
  const { violations, outside } = await tellHistory({
    seed: seed + 1,
    requests: 80,
    kills: 5,
    serviceKills: 5,
    quietWithinMs: 40_000,
    settleWithinMs: 0,
  });
  expect(violations, `seed ${seed + 1}`).toEqual([]);
  expect(outside.runs.length).toBeGreaterThan(5);
});
