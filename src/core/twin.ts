/** Chooses between the runs of one dispatch. */
import type { RunId } from "./place.ts";
import { isEnded, type Run } from "./run.ts";
import type { RunRecord } from "./thread.ts";

/** Returns whether people have steered or cancelled the record's run, or read its end or question: it stays theirs. */
export const isPeoples = ({ followUps = 0, told, cancelling }: RunRecord): boolean =>
  followUps > 0 || told !== null || cancelling;

/**
 * Returns the id of the run that stays: the record's if it is people's, else the eldest, by the API's own times, of
 * those that did not fail. null: none stays, since none was found, or people were told that none started.
 */
export function runToKeep(record: RunRecord, runs: readonly Run[]): RunId | null {
  if (record.failed !== null) return null;
  if (record.runId !== null && isPeoples(record)) return record.runId;
  const hasFailed = ({ state }: Run): boolean => isEnded(state) && state !== "SUCCEEDED";
  const byAge = (one: Run, other: Run): number =>
    Number(hasFailed(one)) - Number(hasFailed(other)) ||
    Date.parse(one.created_at) - Date.parse(other.created_at) ||
    one.run_id.localeCompare(other.run_id);
  return runs.toSorted(byAge)[0]?.run_id ?? null;
}
