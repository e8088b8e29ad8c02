/** Which snapshots of a run are news to its thread, and how long an end waits until it is final. */
import { isEnded, type Run } from "./run.ts";
import type { RunRecord } from "./thread.ts";

type Snapshot = Pick<Run, "state" | "updated_at">;

/** What a follow-up causes shows within this time, in lists that lag as well. */
const settleForMs = 90_000;

/** `RunRecord.settlesAt` of a run that took a follow-up, or was seen to end after one, at `nowMs`. */
export const settlesAfter = (nowMs: number): string => new Date(nowMs + settleForMs).toISOString();

/**
 * Milliseconds until the last end or BLOCKED of an unfinished run is final, unless a newer snapshot comes first;
 * null: the run has no such state, or nothing can follow it. Never longer than the settling time, since the
 * clock may have been set back.
 */
export function settlesInMs({ open, run, reopened, settlesAt }: RunRecord, nowMs: number): number | null {
  if (!open || run === null || !(isEnded(run.state) || (reopened && run.state === "BLOCKED"))) return null;
  const leftMs = settlesAt ? Date.parse(settlesAt) - nowMs : settleForMs;
  return Math.min(Math.max(leftMs, 0), settleForMs);
}

/** A replica of the API may be behind what another one has already shown. */
export const isOlder = (run: Snapshot, than: Snapshot): boolean =>
  Date.parse(run.updated_at) < Date.parse(than.updated_at);

/**
 * True if the thread should decide about this snapshot of its run: it differs from the last one and is not
 * older. `isSettled`: the record's settling deadline has passed; then an unchanged end is news too, being final.
 */
export function isNews({ run: last }: RunRecord, run: Run, isSettled: boolean): boolean {
  if (last === null) return true;
  if (last.state === run.state && last.updated_at === run.updated_at) return isSettled;
  return !isOlder(run, last);
}

/** The end of a run that the API no longer knows: the last snapshot of it as an ERROR. */
export function lostRun({ run: last, asked, since }: RunRecord, runId: string, nowMs: number): Run {
  const lastMs = last === null ? Number.NaN : Date.parse(last.updated_at);
  const sinceMs = Date.parse(since);
  return {
    ...last,
    run_id: runId,
    title: last?.title ?? asked,
    prompt: "",
    state: "ERROR",
    created_at: last?.created_at ?? new Date(Number.isNaN(sinceMs) ? nowMs : sinceMs).toISOString(),
    // Newer than the last snapshot, however much the API's clock is ahead of ours.
    updated_at: new Date(Number.isNaN(lastMs) ? nowMs : Math.max(lastMs + 1, nowMs)).toISOString(),
    status_message: { message: "The API no longer knows this run." },
  };
}
