/** Chooses between two runs of one dispatch. */
import type { Run } from "./run.ts";
import type { RunRecord } from "./thread.ts";

/**
 * Returns the run that stays: the eldest, by the API's own times. But a run that people have already steered, or
 * whose end or question they have read, stays theirs. null: none stays, since people were told that none started.
 */
export function runToKeep(record: RunRecord, runs: readonly Run[]): Run | null {
  if (record.failed !== null) return null;
  const own = runs.find((run) => run.run_id === record.runId);
  if (own !== undefined && ((record.followUps ?? 0) > 0 || record.told !== null)) return own;
  const byAge = (one: Run, other: Run): number =>
    Date.parse(one.created_at) - Date.parse(other.created_at) || one.run_id.localeCompare(other.run_id);
  return runs.toSorted(byAge)[0] ?? null;
}
