import { backoffMs } from "#base/backoff.ts";
import type { Log } from "#base/log.ts";
import { reasonOf } from "#base/reason.ts";
import { isApiFault } from "#engine/api/api-fault.ts";
import type { Observe } from "#engine/base/engine-event.ts";
import type { Timers } from "#engine/base/timers.ts";
import type { Clock } from "#ports.ts";
import type { OpenRuns } from "./open-runs.ts";
import type { Sweeper, Swept } from "./sweep.ts";

/** Result of the last sweep; `at` in milliseconds since the epoch. */
export type SweepHealth =
  | { readonly ok: true; readonly at: number }
  | { readonly ok: false; readonly at: number; readonly reason: string };

/** Repeats sweeps. */
export interface Poller {
  /** Starts polling. */
  open(): void;
  /** Sweeps soon, and often for a while, after a dispatch or a follow-up. */
  wake(): void;
  /** Starts no further sweep; resolves when the one under way has ended. */
  close(): Promise<void>;
  /** null before the first sweep. */
  lastSweep(): SweepHealth | null;
}

/** The interval stays short for so long after a change. */
const livelyMs = 60_000;
const growth = 1.5;
const slowestMs = 30_000;
const failureMostMs = 60_000;

/** Sweeps repeatedly, one sweep at a time, while a run is unfinished. Errors don't end the polling. */
export function createPoller(options: {
  readonly sweeper: Sweeper;
  readonly openRuns: OpenRuns;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Log;
  /** The shortest interval between two sweeps. */
  readonly intervalMs: number;
  readonly observe: Observe;
}): Poller {
  const { sweeper, openRuns, timers, clock, log, intervalMs, observe } = options;
  // Times are by `Clock.elapsed`.
  let open = false;
  let cancel = (): void => {};
  let sweeping: Promise<void> | null = null;
  let startedAt = Number.NEGATIVE_INFINITY;
  let livelyUntil = Number.NEGATIVE_INFINITY;
  let delayMs = intervalMs;
  let failures = 0;
  /** After a failure, no sweep starts before this time, even after `wake`. */
  let notBefore = Number.NEGATIVE_INFINITY;
  let last: SweepHealth | null = null;

  function schedule(at: number): void {
    cancel();
    if (!open || sweeping !== null) return;
    if (openRuns.size() === 0) {
      sweeper.reset();
      return;
    }
    cancel = timers.after(Math.max(at, notBefore) - clock.elapsed(), () => {
      sweeping = tick().then(() => {
        sweeping = null;
        schedule(startedAt + delayMs);
      });
    });
  }

  async function tick(): Promise<void> {
    startedAt = clock.elapsed();
    let swept: Swept = { requests: 0, changed: 0, undelivered: 0 };
    let reason: string | null = null;
    try {
      swept = await sweeper.sweep();
      failures = 0;
      if (swept.changed > 0) livelyUntil = clock.elapsed() + livelyMs;
      delayMs =
        clock.elapsed() < livelyUntil
          ? intervalMs
          : Math.min(delayMs * growth, Math.max(slowestMs, intervalMs));
      if (swept.undelivered > 0) reason = `${swept.undelivered} changed runs could not be saved`;
    } catch (error) {
      failures += 1;
      const askedMs = (isApiFault(error) ? error.retryAfterMs : undefined) ?? 0;
      notBefore =
        clock.elapsed() +
        Math.max(askedMs, backoffMs(failures, intervalMs * 2, failureMostMs, clock.random()));
      reason = isApiFault(error) ? error.reason : reasonOf(error);
    }
    if (reason !== null && last?.ok !== false) log.warn("Runs can't be followed for now", { reason });
    if (reason === null && last?.ok === false) log.info("Runs are followed again");
    const at = clock.now();
    last = reason === null ? { ok: true, at } : { ok: false, at, reason };
    const { requests, changed } = swept;
    const durationMs = clock.elapsed() - startedAt;
    observe({ kind: "swept", ok: reason === null, requests, changed, durationMs });
  }

  return {
    open() {
      open = true;
      livelyUntil = clock.elapsed() + livelyMs;
      schedule(clock.elapsed());
    },
    wake() {
      livelyUntil = clock.elapsed() + livelyMs;
      delayMs = intervalMs;
      schedule(startedAt + intervalMs);
    },
    async close() {
      open = false;
      cancel();
      await sweeping;
    },
    lastSweep: () => last,
  };
}
