import type { Run } from "#core/run.ts";
import type { AgentRuns, RunQuery } from "#ports.ts";

/** The most runs that the API returns in one page. */
const pageSize = 500;

/** The runs to read. */
export interface Reading {
  /** Config name; absent: all visible runs. */
  readonly name?: string;
  /** The time that orders the runs, and that `after` refers to. */
  readonly by: "created_at" | "updated_at";
  /** Milliseconds since the epoch by the API's clock; absent: from the beginning. */
  readonly after?: number;
  readonly mostPages: number;
  /** Whether another page may be read; absent: it may. */
  readonly mayGoOn?: () => boolean;
}

/**
 * Reads runs page by page, newest first: when a run changes it moves to the front, so that others are read twice
 * rather than missed. A service that ignores the filters is read up to a page of only older runs.
 *
 * Resolves with `complete`, with `enough` as soon as `visit` does, or with `cut` if pages are left after
 * `mostPages`, may not be read any more, or can't be reached. Rejects like `AgentRuns.list` and `visit`.
 */
export async function readPages(
  list: AgentRuns["list"],
  reading: Reading,
  visit: (runs: readonly Run[], servedAt: number | undefined) => Promise<"more" | "enough">,
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
    const { runs, page_info, servedAt } = await list(cursor === undefined ? query : { ...query, cursor });
    if ((await visit(runs, servedAt)) === "enough") return "enough";
    const next = page_info.next_cursor;
    if (!page_info.has_next_page) return "complete";
    // Following a repeated cursor would never end.
    if (next === undefined || next === null || cursors.has(next)) return "cut";
    if (after !== undefined && runs.length > 0 && runs.every((run) => Date.parse(run[by]) < after)) {
      return "complete";
    }
    if (reading.mayGoOn?.() === false) return "cut";
    cursors.add(next);
    cursor = next;
  }
  return "cut";
}

const afterQuery = (by: Reading["by"], after: number): RunQuery => {
  const time = new Date(after).toISOString();
  return by === "created_at" ? { created_after: time } : { updated_after: time };
};
