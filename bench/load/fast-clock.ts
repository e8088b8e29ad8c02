/** A clock without waiting: it jumps from timer to timer. */
import type { Clock } from "#ports.ts";

export interface FastClock extends Clock {
  /** Jumps to the next timer and fires it; returns false if there is none. */
  jump(): boolean;
}

/** `startMs`: milliseconds since the epoch. */
export function createFastClock(startMs: number): FastClock {
  let nowMs = startMs;
  const timers = new Set<{ readonly at: number; readonly then: () => void }>();
  return {
    now: () => nowMs,
    elapsed: () => nowMs,
    random: () => 0.5,
    after(ms, then) {
      const timer = { at: nowMs + Math.max(0, ms), then };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    jump() {
      const [next] = [...timers].sort((one, other) => one.at - other.at);
      if (next === undefined) return false;
      timers.delete(next);
      nowMs = Math.max(nowMs, next.at);
      next.then();
      return true;
    },
  };
}
