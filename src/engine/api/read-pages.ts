import type { Run } from "#core/run.ts";
import type { AgentRuns, RunQuery } from "#ports.ts";

/** The most that the API gives at once. */
const pageSize = 500;

export interface Reading {
  /** Config name; absent: every run that we may see. */
  readonly name?: string;
  /** The time that orders the runs, newest first, and that `after` is about. */
  readonly by: "created_at" | "updated_at";
  /** Milliseconds since the epoch by the API's clock; absent: from the beginning. */
  readonly after?: number;
  readonly mostPages: number;
}

/**
 * Reads runs page by page, newest first. Newest first is what stays right while runs change: a run that
 * changes moves to the front, so others are shown twice but none is passed over, and its new time is later
 * than all that was seen. Filters only save work: a service that ignores them is read until its pages hold
 * nothing but older runs.
 *
 * Answers `complete`, `enough` if `visit` did, `cut` if pages were left after `mostPages`. Rejects like
 * `AgentRuns.list`, and as `visit` does.
 */
export async function readPages(
  list: AgentRuns["list"],
  reading: Reading,
  visit: (runs: readonly Run[]) => Promise<"more" | "enough">,
): Promise<"complete" | "enough" | "cut"> {
  const { name, by, after } = reading;
  const query: RunQuery = {
    ...(name === undefined ? {} : { name }),
    limit: pageSize,
    sort_by: by,
    sort_order: "desc",
    ...(after === undefined ? {} : afterQuery(by, after)),
  };
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < reading.mostPages; page += 1) {
    const { runs, page_info } = await list(cursor === undefined ? query : { ...query, cursor });
    if ((await visit(runs)) === "enough") return "enough";
    const next = page_info.next_cursor;
    // A cursor that was given before would lead round and round.
    if (!page_info.has_next_page || next === undefined || next === null || cursors.has(next))
      return "complete";
    if (after !== undefined && runs.length > 0 && runs.every((run) => Date.parse(run[by]) < after)) {
      return "complete";
    }
    cursors.add(next);
    cursor = next;
  }
  return "cut";
}

function afterQuery(by: Reading["by"], after: number): RunQuery {
  const time = new Date(after).toISOString();
  switch (by) {
    case "created_at":
      return { created_after: time };
    case "updated_at":
      return { updated_after: time };
    default:
      return by satisfies never;
  }
}
