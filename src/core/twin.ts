/** Chooses between the runs of one dispatch. */
import type { RunId } from "./place.ts";
import type { Run } from "./run.ts";
import type { RunRecord } from "./thread.ts";

/**
 * Returns the id of the run that stays: the eldest, by the API's own times. But a run that people have already
 * steered or cancelled, or whose end or question they have read, stays theirs. null: none stays, since none was found, or people
 * were told that none started.
 */
export function runToKeep(record: RunRecord, runs: readonly Run[]): RunId | null {
  if (record.failed !== null) return null;
  const isPeoples = (record.followUps ?? 0) > 0 || record.told !== null || record.cancelling;
  if (record.runId !== null && isPeoples) return record.runId;
  const byAge = (one: Run, other: Run): number =>
    Date.parse(one.created_at) - Date.parse(other.created_at) || one.run_id.localeCompare(other.run_id);
  return runs.toSorted(byAge)[0]?.run_id ?? null;
}
