import { backoffMs } from "#base/backoff.ts";
import type { Log } from "#base/log.ts";
import { reasonOf } from "#base/reason.ts";
import type { RunEvent } from "#core/event.ts";
import { isNews } from "#core/news.ts";
import type { Run } from "#core/run.ts";
import type { Clock } from "#ports.ts";
import { type OpenRun, type OpenRuns, quiet } from "./open-runs.ts";

/** Has a run decided in its thread. False if no thread holds the run. Rejects as the store does. */
export type Deliver = (event: RunEvent) => Promise<boolean>;

/** What showed the run: a list of the latest changes, a list of all runs of its name, or a single fetch. */
export type Source = "changes" | "all" | "fetch";
/** `unknown`: not one of our unfinished runs. `undelivered`: it is news, but its thread can't be saved. */
export type Received = "unknown" | "unchanged" | "delivered" | "undelivered";
export type ReceiveRun = (run: Run, source: Source) => Promise<Received>;

const deliverAgainFirstMs = 1_000;
const deliverAgainMostMs = 5 * 60_000;

/** Takes a snapshot of a run from the API and delivers it to its thread if it is news. Never rejects. */
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
        log.error("A run's change could not be saved; it is tried again", {
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

/** A run that only a rarer look found changed is looked for soon again, any other one ever less often. */
function quietMsAfter(open: OpenRun, source: Source, isChanged: boolean): number {
  // The look was outdated.
  if (!isChanged && open.settling?.isOver) return quiet.firstMs;
  if (source === "changes") return quiet.listedMs;
  return isChanged ? quiet.firstMs : Math.min(open.quietMs * 2, quiet.mostMs);
}
