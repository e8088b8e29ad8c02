import type { Effect } from "#core/effect.ts";
import type { Clock } from "#ports.ts";

/** The ends of the waits of one thread's effects, by `Clock.elapsed`: nobody can set that clock. */
export interface Waits {
  /** Notes the waits that began or changed. */
  update(effects: readonly Effect[]): void;
  /** Returns the earliest time of the effect's next try. */
  endOf(effect: Effect): number;
}

/** The longest back-off of earlier versions, whose documents have no `waitMs`. */
const longestMs = 5 * 60_000;

/** Creates the waits of one thread. A wait lasts no longer than it was meant to, wherever the wall clock has gone. */
export function createWaits(clock: Clock): Waits {
  const ends = new Map<string, { readonly notBefore: string; readonly at: number }>();

  function endFromNow(notBefore: string, waitMs: number): number {
    const leftMs = Date.parse(notBefore) - clock.now() || 0;
    return clock.elapsed() + Math.min(Math.max(leftMs, 0), waitMs);
  }

  return {
    update(effects) {
      const waiting = new Set<string>();
      for (const { id, notBefore, waitMs = longestMs } of effects) {
        if (notBefore === undefined) continue;
        waiting.add(id);
        if (ends.get(id)?.notBefore === notBefore) continue;
        ends.set(id, { notBefore, at: endFromNow(notBefore, waitMs) });
      }
      for (const id of ends.keys()) if (!waiting.has(id)) ends.delete(id);
    },
    endOf: ({ id }) => ends.get(id)?.at ?? 0,
  };
}
