import { windowStart } from "#base/window.ts";
import type { DispatchId, RunId } from "#core/place.ts";
import { dispatchKey, type Run, referenceLine } from "#core/run.ts";
import type { AgentRuns, RunQuery } from "#ports.ts";
import { isApiFault } from "./api-fault.ts";
import { readPages } from "./read-pages.ts";

/** One try reads so many pages. */
const mostPages = 100;

/** What to search for, and where. */
export interface DispatchSearch {
  /** Milliseconds since the decision; negative: unknown, since our clock has been set back. */
  readonly ageMs: number;
  /** Config name; undefined: any. */
  readonly name: string | undefined;
  /** Whether the run has the dispatch's metadata; a factory's run has only the reference line. */
  readonly hasMetadata: boolean;
  /** Whether this try may read another page. */
  readonly mayGoOn: () => boolean;
}

/** How far a search has read, so that another try can go on there. */
export interface Progress {
  /** Cursor of the next page; undefined: the first. */
  cursor: string | undefined;
  /** All runs of the dispatch were made later, in milliseconds by the service's clock; undefined: not known yet. */
  oldestMs: number | undefined;
  /** The runs of the dispatch, by id. */
  readonly found: Map<RunId, Run>;
  /** Ids of all runs since the beginning. */
  shown: Set<RunId>;
  /** Since then some run was shown twice, so another may not have been shown at all. */
  isShuffled: boolean;
  /** How often the search began again for that. */
  restarts: number;
}

/** Returns the progress of a search that has not begun. */
export const newProgress = (): Progress => ({
  cursor: undefined,
  oldestMs: undefined,
  found: new Map(),
  shown: new Set(),
  isShuffled: false,
  restarts: 0,
});

/** Runs of one time may change their order from page to page; runs that are made meanwhile only look like that. */
const mostRestarts = 4;

/** The result of a search. */
export interface Found {
  readonly runs: readonly Run[];
  /** False if there are more runs than one try reads: the search has to go on. */
  readonly isComplete: boolean;
}

/**
 * Searches for the runs of the dispatch, from where `progress` is, and moves that on. A service that honours the filter
 * by metadata answers with these alone. Otherwise the search ends at runs that are older than the dispatch, by the
 * service's own clock. Rejects like `AgentRuns.list`; `progress` then stays before the page that failed.
 */
export async function findDispatch(
  agentRuns: AgentRuns,
  dispatch: DispatchId,
  search: DispatchSearch,
  progress: Progress = newProgress(),
): Promise<Found> {
  if (!search.hasMetadata) return readBack(agentRuns, dispatch, search, progress, {});
  try {
    return await readBack(agentRuns, dispatch, search, progress, { metadata: { [dispatchKey]: dispatch } });
  } catch (error) {
    const isUnsupported = isApiFault(error) && error.certainty === "refused" && !error.retryable;
    if (!isUnsupported) throw error;
    return readBack(agentRuns, dispatch, search, progress, {});
  }
}

async function readBack(
  agentRuns: AgentRuns,
  dispatch: DispatchId,
  { ageMs, name, mayGoOn }: DispatchSearch,
  progress: Progress,
  filter: Pick<RunQuery, "metadata">,
): Promise<Found> {
  const { cursor, found } = progress;
  const end = await readPages(
    async (query) => {
      const page = await agentRuns.list({ ...(cursor === undefined ? {} : { cursor }), ...query, ...filter });
      const { has_next_page, next_cursor } = page.page_info;
      progress.cursor = has_next_page ? (next_cursor ?? undefined) : undefined;
      return page;
    },
    { ...(name === undefined ? {} : { name }), by: "created_at", mostPages, mayGoOn },
    async (runs, servedAt) => {
      const times = runs.map((run) => Date.parse(run.created_at));
      const newestMs = Math.max(...times.filter(Number.isFinite));
      // One of the two may be from a clock that was ahead; the earlier one at worst has more pages read.
      const presentMs = Math.min(...[newestMs, servedAt ?? newestMs].filter(Number.isFinite));
      if (Number.isFinite(presentMs)) progress.oldestMs ??= windowStart(presentMs, ageMs);
      const start = progress.oldestMs ?? Number.NEGATIVE_INFINITY;
      // Whoever knew the id beforehand may have made a run with it.
      const ofDispatch = runs.filter(
        (run) => isOfDispatch(run, dispatch) && !(Date.parse(run.created_at) < start),
      );
      for (const run of ofDispatch) found.set(run.run_id, run);
      progress.isShuffled ||= runs.some((run) => progress.shown.has(run.run_id));
      for (const run of runs) progress.shown.add(run.run_id);
      return runs.length > 0 && times.every((time) => time < start) ? "enough" : "more";
    },
  );
  const begins = end !== "cut" && progress.isShuffled && progress.restarts < mostRestarts;
  if (begins) {
    const restarts = progress.restarts + 1;
    Object.assign(progress, { cursor: undefined, shown: new Set(), isShuffled: false, restarts });
  }
  return { runs: [...found.values()], isComplete: end !== "cut" && !begins };
}

/**
 * Metadata takes precedence, since a prompt may quote another dispatch's reference line. The API lets a run that a run
 * started inherit its metadata.
 */
function isOfDispatch(run: Run, dispatch: DispatchId): boolean {
  if (run.parent_run_id) return false;
  const named = run.metadata?.[dispatchKey];
  return named === undefined ? hasReference(run.prompt, dispatch) : named === dispatch;
}

/** Returns whether the text contains the reference line of `id`. */
function hasReference(text: string, id: string): boolean {
  const line = referenceLine(id);
  return text.split(/\r?\n/).some((other) => other.trim() === line);
}
