import type { Clock } from "#ports.ts";

export interface HandClock extends Clock {
  /** Advances the time, fires the due timers in order, and waits for their consequences. */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock forward, or back by a negative step; nothing else notices. */
  step(ms: number): void;
  /** Number of pending timers. */
  waiting(): number;
}

/** Waits for all work that needs no time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export function createHandClock(startMs = Date.parse("2026-01-01T00:00:00Z")): HandClock {
  let nowMs = startMs;
  let steppedMs = 0;
  const timers = new Set<{ readonly at: number; readonly then: () => void }>();
  return {
    now: () => nowMs + steppedMs,
    elapsed: () => nowMs - startMs,
    random: () => 0.5,
    after(ms, then) {
      const timer = { at: nowMs + ms, then };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      const target = nowMs + ms;
      await settle();
      for (;;) {
        const due = [...timers].filter(({ at }) => at <= target).sort((one, two) => one.at - two.at);
        const next = due[0];
        if (next === undefined) break;
        timers.delete(next);
        nowMs = Math.max(nowMs, next.at);
        next.then();
        await settle();
      }
      nowMs = target;
    },
    step(ms) {
      steppedMs += ms;
    },
    waiting: () => timers.size,
  };
}
