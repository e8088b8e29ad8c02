import { backoffMs } from "#base/backoff.ts";
import type { Log } from "#base/log.ts";
import { reasonOf } from "#base/reason.ts";
import type { RunEvent } from "#core/event.ts";
import { identityOf, standingOf } from "#core/news.ts";
import type { Run } from "#core/run.ts";
import type { Save } from "#engine/save.ts";
import type { Clock } from "#ports.ts";
import { doubtAfterFetch, doubtAfterList, isLasting } from "./doubt.ts";
import type { OpenRun, OpenRuns } from "./open-runs.ts";
import { quietFirstMs, quietMsListed, quietMsUnchanged } from "./quiet.ts";

/** Delivers a snapshot to the run's thread; resolves with false if no thread has the run. Rejects like the store. */
export type Deliver = (event: RunEvent) => Promise<boolean>;

/** Source of a snapshot: a list of the latest changes, a list of all runs of the name, or a fetch by id. */
export type Source = "changes" | "all" | "fetch";
/** `unknown`: not one of the open runs. `undelivered`: it is news, but its thread can't be saved. */
export type Received = "unknown" | "unchanged" | "delivered" | "undelivered";
/** Receives a snapshot. Never rejects. */
export type ReceiveRun = (run: Run, source: Source) => Promise<Received>;

/** A run has at most so many changes while its thread can't be saved; the newest count. */
const mostHeld = 8;

/** Creates `Deliver`, which first delivers the run's earlier changes that could not be saved. */
export function createDeliver(openRuns: OpenRuns, save: Save): Deliver {
  return async (event) => {
    const open = openRuns.get(event.run.run_id);
    try {
      for (const held of open?.held ?? []) await save(held);
      const { thread } = await save(event);
      if (open !== undefined) open.held = [];
      return thread !== null;
    } catch (error) {
      const identity = identityOf(event.run);
      const isHeld = open?.held.some(({ run }) => identityOf(run) === identity);
      if (open !== undefined && !isHeld) open.held = [...open.held, event].slice(-mostHeld);
      throw error;
    }
  };
}

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
    if (open.undelivered !== null && open.undelivered.notBefore > clock.elapsed()) return "undelivered";
    open.changedAt = clock.elapsed();
    try {
      if (!(await deliver(event))) openRuns.forget(open.runId);
      open.undelivered = null;
      return "delivered";
    } catch (error) {
      const failures = (open.undelivered?.failures ?? 0) + 1;
      const waitMs = backoffMs(failures, deliverAgainFirstMs, deliverAgainMostMs, clock.random());
      open.undelivered = { failures, notBefore: clock.elapsed() + waitMs };
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
    const now = clock.elapsed();
    const standing = standingOf(open.record, run);
    const isPassed = standing === "passed";
    const isAgain = isPassed && source === "fetch" && isLasting(open.doubt, now);
    const isSettled = standing === "same" && open.settling?.isOver === true;
    const isFound = standing === "newer" || (standing === "unclear" && source === "fetch");
    const isChanged = isFound || isSettled || isAgain;
    open.shownAt = now;
    open.missing = null;
    if (source === "changes") open.unlisted = false;
    // An end that has settled, but was shown by an outdated snapshot, is soon searched for again.
    if (!isChanged && open.settling?.isOver) open.quietMs = quietFirstMs;
    else if (source === "changes") open.quietMs = quietMsListed(openRuns.size());
    else open.quietMs = isChanged ? quietFirstMs : quietMsUnchanged(open.quietMs);
    const doubtAfter = source === "fetch" ? doubtAfterFetch : doubtAfterList;
    open.doubt = isAgain ? null : doubtAfter(open.doubt, standing, now);
    if (!isChanged) return "unchanged";
    const { followUps = 0 } = open.record;
    return tryToDeliver(open, {
      kind: "run",
      run,
      ...(isSettled ? { followUps } : {}),
      ...(isAgain ? { isLasting: true } : {}),
    });
  };
}
