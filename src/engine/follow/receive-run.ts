import { backoffMs } from "#base/backoff.ts";
import type { Log } from "#base/log.ts";
import { reasonOf } from "#base/reason.ts";
import type { RunEvent } from "#core/event.ts";
import { isNews } from "#core/news.ts";
import type { Run } from "#core/run.ts";
import type { Clock } from "#ports.ts";
import { type OpenRun, type OpenRuns, quiet } from "./open-runs.ts";

/** Delivers a snapshot to the run's thread; resolves with false if no thread has the run. Rejects like the store. */
export type Deliver = (event: RunEvent) => Promise<boolean>;

/** Source of a snapshot: a list of the latest changes, a list of all runs of the name, or a fetch by id. */
export type Source = "changes" | "all" | "fetch";
/** `unknown`: not one of the open runs. `undelivered`: it is news, but its thread can't be saved. */
export type Received = "unknown" | "unchanged" | "delivered" | "undelivered";
/** Receives a snapshot. Never rejects. */
export type ReceiveRun = (run: Run, source: Source) => Promise<Received>;

const deliverAgainFirstMs = 1_000;
const deliverAgainMostMs = 5 * 60_000;

/** Creates the function that delivers snapshots to their threads if they are news. */
export function createReceiveRun(options: {
  readonly openRuns: OpenRuns;
  readonly deliver: Deliver;
  readonly clock: Clock;
  readonly log: Log;
}): ReceiveRun {
  const { openRuns, deliver, clock, log } = options;

  async function tryToDeliver(open: OpenRun, event: RunEvent): Promise<Received> {
    if (open.undelivered !== null && open.undelivered.notBefore > clock.now()) return "undelivered";
    open.changedAt = clock.now();
    try {
      if (!(await deliver(event))) openRuns.forget(open.runId);
      open.undelivered = null;
      return "delivered";
    } catch (error) {
      const failures = (open.undelivered?.failures ?? 0) + 1;
      const waitMs = backoffMs(failures, deliverAgainFirstMs, deliverAgainMostMs, clock.random());
      open.undelivered = { failures, notBefore: clock.now() + waitMs };
      if (failures === 1) {
        log.error("A run's change could not be saved; retrying", {
          run: open.runId,
          reason: reasonOf(error),
        });
      }
      return "undelivered";
    }
  }

  return async (run, source) => {
    const open = openRuns.get(run.run_id);
    if (open === undefined) return "unknown";
    open.shownAt = clock.now();
    open.missing = null;
    if (source === "changes") open.unlisted = false;
    const isSettled = open.settling?.isOver === true;
    const isChanged = isNews(open.record, run, isSettled);
    open.quietMs = quietMsAfter(open, source, isChanged);
    if (!isChanged) return "unchanged";
    const { followUps = 0 } = open.record;
    return tryToDeliver(open, { kind: "run", run, ...(isSettled ? { followUps } : {}) });
  };
}

/** Returns the next `quietMs`: short after a change that the list of changes missed, else growing. */
function quietMsAfter(open: OpenRun, source: Source, isChanged: boolean): number {
  // The snapshot was outdated.
  if (!isChanged && open.settling?.isOver) return quiet.firstMs;
  if (source === "changes") return quiet.listedMs;
  return isChanged ? quiet.firstMs : Math.min(open.quietMs * 2, quiet.mostMs);
}
