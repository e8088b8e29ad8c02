import { backoffMs } from "#base/backoff.ts";
import type { Log } from "#base/log.ts";
import { reasonOf } from "#base/reason.ts";
import { isApiFault } from "#engine/api/api-fault.ts";
import type { Observe } from "#engine/base/engine-event.ts";
import type { Timers } from "#engine/base/timers.ts";
import type { Clock } from "#ports.ts";
import type { OpenRuns } from "./open-runs.ts";
import type { Sweeper, Swept } from "./sweep.ts";

export type SweepHealth =
  | { readonly ok: true; readonly at: number }
  | { readonly ok: false; readonly at: number; readonly reason: string };

export interface Poller {
  /** Begins to poll. */
  open(): void;
  /** Something was dispatched or steered: look soon, and often for a while. */
  wake(): void;
  /** Begins no further sweep; resolves when the one under way has ended. */
  close(): Promise<void>;
  /** null before the first sweep. */
  lastSweep(): SweepHealth | null;
}

/** For so long after a change the tick stays short. */
const livelyMs = 60_000;
const growth = 1.5;
const slowestMs = 30_000;
const failureMostMs = 60_000;

/** Sweeps again and again, one at a time, while a run is unfinished. Nothing ends it but `close`. */
export function createPoller(options: {
  readonly sweeper: Sweeper;
  readonly openRuns: OpenRuns;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Log;
  /** The shortest tick. */
  readonly intervalMs: number;
  readonly observe: Observe;
}): Poller {
  const { sweeper, openRuns, timers, clock, log, intervalMs, observe } = options;
  let open = false;
  let callOff = (): void => {};
  let sweeping: Promise<void> | null = null;
  let begunAt = Number.NEGATIVE_INFINITY;
  let livelyUntil = 0;
  let delayMs = intervalMs;
  let failures = 0;
  /** No sweep before that, after a failure, whatever happens. */
  let notBefore = 0;
  let last: SweepHealth | null = null;

  function schedule(at: number): void {
    callOff();
    if (!open || sweeping !== null) return;
    if (openRuns.size() === 0) {
      sweeper.rest();
      return;
    }
    callOff = timers.after(Math.max(at, notBefore) - clock.now(), () => {
      sweeping = tick().then(() => {
        sweeping = null;
        schedule(begunAt + delayMs);
      });
    });
  }

  async function tick(): Promise<void> {
    begunAt = clock.now();
    try {
      const swept = await sweeper.sweep();
      failures = 0;
      if (swept.changed > 0) livelyUntil = clock.now() + livelyMs;
      delayMs =
        clock.now() < livelyUntil ? intervalMs : Math.min(delayMs * growth, Math.max(slowestMs, intervalMs));
      if (swept.unsaved === 0) tell({ ok: true, at: clock.now() });
      else tell({ ok: false, at: clock.now(), reason: `${swept.unsaved} changed runs could not be saved` });
      measure(swept, swept.unsaved === 0);
    } catch (error) {
      failures += 1;
      const askedMs = (isApiFault(error) ? error.retryAfterMs : undefined) ?? 0;
      notBefore =
        clock.now() + Math.max(askedMs, backoffMs(failures, intervalMs * 2, failureMostMs, clock.random()));
      tell({ ok: false, at: clock.now(), reason: isApiFault(error) ? error.reason : reasonOf(error) });
      measure({ requests: 0, changed: 0, unsaved: 0 }, false);
    }
  }

  /** Said once when it changes, not at every tick. */
  function tell(health: SweepHealth): void {
    if (!health.ok && last?.ok !== false)
      log.warn("Runs can't be followed for now", { reason: health.reason });
    if (health.ok && last?.ok === false) log.info("Runs are followed again");
    last = health;
  }

  function measure({ requests, changed }: Swept, ok: boolean): void {
    observe({ kind: "swept", ok, requests, changed, durationMs: clock.now() - begunAt });
  }

  return {
    open() {
      open = true;
      livelyUntil = clock.now() + livelyMs;
      schedule(clock.now());
    },
    wake() {
      livelyUntil = clock.now() + livelyMs;
      delayMs = intervalMs;
      schedule(begunAt + intervalMs);
    },
    async close() {
      open = false;
      callOff();
      await sweeping;
    },
    lastSweep: () => last,
  };
}
