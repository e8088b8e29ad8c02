import { expect, test } from "vitest";
import { removeOldThreads } from "#store/remove-old-threads.ts";
import { recordingLog } from "#test/support/logs.ts";

/** A clock under the test's control. */
function manualClock() {
  const waits: { ms: number; then: () => void }[] = [];
  return {
    clock: {
      now: () => 0,
      elapsed: () => 0,
      random: () => 0,
      after(ms: number, then: () => void) {
        const wait = { ms, then };
        waits.push(wait);
        return () => void waits.splice(waits.indexOf(wait), 1);
      },
    },
    waits,
  };
}

test("sweeps follow each other until one is done, and the next round begins an hour later", async () => {
  const { clock, waits } = manualClock();
  const answers = [
    { removed: 100, done: false },
    { removed: 3, done: true },
  ];
  const store = { sweep: async () => answers.shift() ?? { removed: 0, done: true } };
  removeOldThreads({ store, clock, log: recordingLog().log });
  const taken: number[] = [];
  for (let step = 0; step < 3; step++) {
    await expect.poll(() => waits.length).toBe(1);
    const wait = waits.shift();
    taken.push(wait?.ms ?? 0);
    wait?.then();
  }
  expect(taken).toEqual([3_600_000, 5_000, 3_600_000]);
});

test("only what two rounds an hour apart take for old is removed, whatever the clock says for a moment", async () => {
  const { clock, waits } = manualClock();
  let elapsedMs = 0;
  let steppedMs = 0;
  const moving = { ...clock, now: () => elapsedMs + steppedMs, elapsed: () => elapsedMs };
  const limits: (number | undefined)[] = [];
  const store = {
    sweep: async (nowMs?: number) => {
      limits.push(nowMs);
      return { removed: 0, done: true };
    },
  };
  removeOldThreads({ store, clock: moving, log: recordingLog().log });
  const day = 24 * 3_600_000;
  for (const step of [90 * day, 0, 90 * day, 90 * day]) {
    await expect.poll(() => waits.length).toBe(1);
    elapsedMs += 3_600_000;
    steppedMs = step;
    waits.shift()?.then();
  }
  const hours = [1, 2, 3].map((hour) => hour * 3_600_000);
  expect(limits).toEqual([...hours, 4 * 3_600_000 + 90 * day]);
});

test("a failure is logged, and sweeps continue until they are stopped", async () => {
  const { clock, waits } = manualClock();
  const { log, lines } = recordingLog();
  const store = { sweep: () => Promise.reject(new Error("no space is left")) };
  const stop = removeOldThreads({ store, clock, log });
  waits.shift()?.then();
  await expect.poll(() => waits.length).toBe(1);
  expect(lines).toEqual([expect.objectContaining({ message: "Old threads could not be removed" })]);
  stop();
  expect(waits).toEqual([]);
});

test("a sweep under way when it is stopped is the last", async () => {
  const { clock, waits } = manualClock();
  const swept = Promise.withResolvers<{ removed: number; done: boolean }>();
  const stop = removeOldThreads({ store: { sweep: () => swept.promise }, clock, log: recordingLog().log });
  waits.shift()?.then();
  stop();
  swept.resolve({ removed: 0, done: false });
  await swept.promise;
  await new Promise((resolve) => setImmediate(resolve));
  expect(waits).toEqual([]);
});
