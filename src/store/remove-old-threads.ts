import type { Log } from "#base/log.ts";
import type { Clock } from "#ports.ts";
import type { LocalStore } from "./local-store.ts";

const betweenStepsMs = 5_000;
const betweenRoundsMs = 3_600_000;

/**
 * Removes old threads every hour, a few at a time; the returned function stops it. The clock may be wrong for a time:
 * only what is old by the last round's time too is removed.
 */
export function removeOldThreads(on: {
  store: Pick<LocalStore, "sweep">;
  clock: Clock;
  log: Log;
}): () => void {
  const { store, clock, log } = on;
  const aheadOfElapsed = (): number => clock.now() - clock.elapsed();
  let aheadBefore = aheadOfElapsed();
  let ended = false;
  let callOff = (): void => {};

  async function step(): Promise<void> {
    const ahead = aheadOfElapsed();
    let nextMs = betweenRoundsMs;
    try {
      const { removed, done } = await store.sweep(Math.min(ahead, aheadBefore) + clock.elapsed());
      if (removed > 0) log.info("Old threads were removed", { removed });
      if (!done) nextMs = betweenStepsMs;
    } catch (error) {
      if (!ended) log.warn("Old threads could not be removed", { error });
    }
    if (nextMs === betweenRoundsMs) aheadBefore = ahead;
    later(nextMs);
  }
  function later(ms: number): void {
    if (!ended) callOff = clock.after(ms, () => void step());
  }

  later(betweenRoundsMs);
  return () => {
    ended = true;
    callOff();
  };
}
