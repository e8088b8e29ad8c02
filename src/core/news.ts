/**
 * Decides which snapshots of a run are news to its thread, and when an end is final. A snapshot is identified by its
 * state and `updated_at`. Which of two is newer is not concluded from their times alone, since the API's clock may be
 * set, and lists and replicas may lag.
 */
import { lostRunReason } from "#core/words/end.ts";
import type { RunId } from "./place.ts";
import { isEnded, type Run } from "./run.ts";
import type { RunRecord } from "./thread.ts";

type Snapshot = Pick<Run, "state" | "updated_at">;

/** A change, such as a follow-up's effect, appears within this time everywhere, even in lists and replicas that lag. */
export const settleForMs = 90_000;
/** A record keeps so many identities that its run has passed. */
const mostPassed = 8;

/** Returns `RunRecord.settlesAt` for a run that took a follow-up, or ended after one, at `nowMs`. */
export const settlesAfter = (nowMs: number): string => new Date(nowMs + settleForMs).toISOString();

/**
 * Returns the milliseconds until the end or BLOCKED of an open record is final, unless a newer snapshot comes
 * first; null if the run is in another state, or blocked after its last follow-up. The result never exceeds the
 * settling time, since the clock may have been set back.
 */
export function settlesInMs({ open, run, reopened, settlesAt }: RunRecord, nowMs: number): number | null {
  if (!open || run === null || !(isEnded(run.state) || (reopened && run.state === "BLOCKED"))) return null;
  const leftMs = settlesAt ? Date.parse(settlesAt) - nowMs : settleForMs;
  return Math.min(Math.max(leftMs, 0), settleForMs);
}

/** Returns the identity of a snapshot. The same time may be written in several ways. */
export const identityOf = ({ state, updated_at }: Snapshot): string =>
  `${state} ${Date.parse(updated_at) || updated_at}`;

/**
 * A snapshot beside the record's: the `same`; `passed`, so that it comes from a list or replica that lags; `newer`, by
 * its time; or `unclear`: not seen before, but not later, so that either it lags, or the API's clock was set back.
 */
export type Standing = "same" | "passed" | "newer" | "unclear";

/** Returns where the snapshot stands beside the record's. */
export function standingOf({ run: last, passed = [] }: RunRecord, run: Snapshot): Standing {
  if (last === null) return "newer";
  const identity = identityOf(run);
  if (identity === identityOf(last)) return "same";
  if (passed.includes(identity)) return "passed";
  return Date.parse(run.updated_at) > Date.parse(last.updated_at) ? "newer" : "unclear";
}

/** Returns `RunRecord.passed` for a record whose run is now at this snapshot. */
export function passedUntil({ run: last, passed = [] }: RunRecord, run: Snapshot): readonly string[] {
  const identity = identityOf(run);
  if (last === null || identity === identityOf(last)) return passed;
  return [...passed.filter((other) => other !== identity), identityOf(last)].slice(-mostPassed);
}

/** Returns the end of a run that the API no longer knows: its last snapshot as an ERROR. */
export function lostRun({ run: last, asked, since }: RunRecord, runId: RunId, nowMs: number): Run {
  const lastMs = Date.parse(last?.updated_at ?? "") || 0;
  return {
    ...last,
    run_id: runId,
    title: last?.title ?? asked,
    prompt: "",
    state: "ERROR",
    created_at: last?.created_at ?? since,
    // Later than the last snapshot, even if the API's clock is ahead of ours.
    updated_at: new Date(Math.max(lastMs + 1, nowMs)).toISOString(),
    status_message: { message: lostRunReason },
  };
}
