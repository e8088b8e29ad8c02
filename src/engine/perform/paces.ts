import type { Timers } from "#engine/base/timers.ts";
import type { Clock, Pace } from "#ports.ts";

/** Counts the beginnings of each pace, and wakes what waits for one. */
export interface Paces<Sleeper> {
  /** Returns false if all the paces allow a beginning now; otherwise true, and wakes the sleeper when they may. */
  sleeps(sleeper: Sleeper, kept: readonly Pace[]): boolean;
  /** Notes that an effect with these paces begins now. */
  begun(kept: readonly Pace[]): void;
}

interface Kept<Sleeper> {
  /** The last beginnings, by `Clock.elapsed`, oldest first. */
  begun: number[];
  /** The pace's `perMs` after the last of them. */
  overAt: number;
  readonly sleepers: Set<Sleeper>;
  isArmed: boolean;
}

const fewestToForget = 1_000;

/** Creates the paces, by key. `wake` gets all that sleep for one pace when it allows a beginning again. */
export function createPaces<Sleeper>(options: {
  readonly timers: Timers;
  readonly clock: Clock;
  readonly wake: (sleepers: Sleeper[]) => void;
}): Paces<Sleeper> {
  const { timers, clock, wake } = options;
  const byKey = new Map<string, Kept<Sleeper>>();
  let forgetAt = fewestToForget;

  function keptOf(key: string): Kept<Sleeper> {
    const kept = byKey.get(key) ?? { begun: [], overAt: 0, sleepers: new Set(), isArmed: false };
    byKey.set(key, kept);
    return kept;
  }

  /** Returns the time, by `Clock.elapsed`, from which the pace allows a beginning. */
  function freeAt({ key, count, perMs }: Pace): number {
    const nth = byKey.get(key)?.begun.at(-count);
    return nth === undefined ? Number.NEGATIVE_INFINITY : nth + perMs;
  }

  /** Removes the paces without recent beginnings, whenever their number has doubled. */
  function forget(): void {
    if (byKey.size < forgetAt) return;
    for (const [key, { overAt, sleepers }] of byKey) {
      if (overAt <= clock.elapsed() && sleepers.size === 0) byKey.delete(key);
    }
    forgetAt = Math.max(fewestToForget, 2 * byKey.size);
  }

  return {
    sleeps(sleeper, paces) {
      const full = paces.find((pace) => freeAt(pace) > clock.elapsed());
      if (full === undefined) return false;
      const kept = keptOf(full.key);
      kept.sleepers.add(sleeper);
      if (!kept.isArmed) {
        kept.isArmed = true;
        timers.after(freeAt(full) - clock.elapsed(), () => {
          kept.isArmed = false;
          const woken = [...kept.sleepers];
          kept.sleepers.clear();
          wake(woken);
        });
      }
      return true;
    },
    begun(paces) {
      for (const { key, count, perMs } of paces) {
        const kept = keptOf(key);
        kept.begun = [...kept.begun, clock.elapsed()].slice(-count);
        kept.overAt = clock.elapsed() + perMs;
      }
      forget();
    },
  };
}
