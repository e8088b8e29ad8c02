import { expect, test } from "vitest";
import { tellHistory } from "./history.ts";

/** A new seed for each run; `npm run kill -- --seed` replays it, as far as processes can be replayed. */
const seed = Math.floor(Math.random() * 1e9);
/** The bot itself waits about a minute for an answer that a conversation does not show, and starts slowly under load. */
const quietWithinMs = 150_000;
const timeout = 400_000;

test.concurrent("a bot that is killed at random moments loses nothing, repeats nothing and shuts down cleanly", {
  timeout,
}, async () => {
  const { violations, deeds, outside } = await tellHistory({
    seed,
    requests: 100,
    kills: 8,
    serviceKills: 0,
    quietWithinMs,
    settleWithinMs: 0,
  });
  expect(violations, `seed ${seed}`).toEqual([]);
  expect(deeds.filter(({ ackedAt }) => ackedAt !== null).length).toBeGreaterThan(30);
  expect(outside.runs.length).toBeGreaterThan(10);
});

test.concurrent("the same holds if the service is killed too: its queued runs run, and its interrupted ones are reported", {
  timeout,
}, async () => {
  const { violations, outside } = await tellHistory({
    seed: seed + 1,
    requests: 60,
    kills: 4,
    serviceKills: 4,
    quietWithinMs,
    settleWithinMs: 0,
  });
  expect(violations, `seed ${seed + 1}`).toEqual([]);
  expect(outside.runs.length).toBeGreaterThan(5);
});
