/** Decides which snapshots of a run are news to its thread, and when an end is final. */
import { lostRunReason } from "#core/words/end.ts";
import type { RunId } from "./place.ts";
import { isEnded, type Run } from "./run.ts";
import type { RunRecord } from "./thread.ts";

type Snapshot = Pick<Run, "state" | "updated_at">;

/** A follow-up's effect appears within this time, even in lists that lag. */
const settleForMs = 90_000;

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

/** Returns true for a snapshot from before `than`, as from a replica that lags. */
export const isOlder = (run: Snapshot, than: Snapshot): boolean =>
  Date.parse(run.updated_at) < Date.parse(than.updated_at);

/**
 * Returns true if the thread must decide this snapshot of its run: it differs from the last one and is not older.
 * `isSettled`: the record's settling deadline has passed, so an unchanged end is now final, which is news.
 */
export function isNews({ run: last }: RunRecord, run: Run, isSettled: boolean): boolean {
  if (last === null) return true;
  if (last.state === run.state && last.updated_at === run.updated_at) return isSettled;
  return !isOlder(run, last);
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
