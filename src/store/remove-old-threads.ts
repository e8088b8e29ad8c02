import type { Log } from "#base/log.ts";
import type { Clock } from "#ports.ts";

/** Removes what is too old, a bounded step at a time; `done`: the next step begins another round. */
interface Sweepable {
  sweep(): Promise<{ readonly removed: number; readonly done: boolean }>;
}

const betweenStepsMs = 5_000;
const betweenRoundsMs = 3_600_000;

/** Goes through the store again and again for as long as the bot runs; the answer ends that. */
export function removeOldThreads(on: { store: Sweepable; clock: Clock; log: Log }): () => void {
  const { store, clock, log } = on;
  let ended = false;
  let callOff = (): void => {};

  async function step(): Promise<void> {
    let nextMs = betweenRoundsMs;
    try {
      const { removed, done } = await store.sweep();
      if (removed > 0) log.info("Old threads were removed", { removed });
      if (!done) nextMs = betweenStepsMs;
    } catch (error) {
      if (!ended) log.warn("Old threads could not be removed", { error });
    }
    later(nextMs);
  }
  function later(ms: number): void {
    if (!ended) callOff = clock.after(ms, () => void step());
  }

  later(betweenStepsMs);
  return () => {
    ended = true;
    callOff();
  };
}
