import type { DispatchId } from "#core/place.ts";
import { dispatchKey, type Run, referenceLine } from "#core/run.ts";
import type { AgentRuns, RunQuery } from "#ports.ts";
import { isApiFault } from "./api-fault.ts";
import { readPages } from "./read-pages.ts";

/** The most by which the times that one service gives may differ from each other. */
const skewMs = 15 * 60_000;
/** The age of an effect from the future: our clock has been set back, by an unknown time. */
const unknownAgeMs = 25 * 60 * 60_000;
const mostPages = 200;

/** What to search for, and where. */
export interface DispatchSearch {
  /** Milliseconds since the decision, by our clock. */
  readonly ageMs: number;
  /** Config name; undefined: any. */
  readonly name: string | undefined;
  /** Whether the run has the dispatch's metadata; a factory's run has only the reference line. */
  readonly hasMetadata: boolean;
}

/**
 * Resolves with the runs of the dispatch, or with `unsure` if there are too many runs to search. A service that
 * honours the filter by metadata answers with these alone. Otherwise the search ends at runs that are older than
 * the dispatch, by the service's own clock. Rejects like `AgentRuns.list`.
 */
export async function findDispatch(
  agentRuns: AgentRuns,
  dispatch: DispatchId,
  search: DispatchSearch,
): Promise<readonly Run[] | "unsure"> {
  if (!search.hasMetadata) return readBack(agentRuns, dispatch, search, {});
  try {
    return await readBack(agentRuns, dispatch, search, { metadata: { [dispatchKey]: dispatch } });
  } catch (error) {
    const isUnsupported = isApiFault(error) && error.certainty === "refused" && !error.retryable;
    if (!isUnsupported) throw error;
    return readBack(agentRuns, dispatch, search, {});
  }
}

async function readBack(
  agentRuns: AgentRuns,
  dispatch: DispatchId,
  { ageMs, name }: DispatchSearch,
  filter: Pick<RunQuery, "metadata">,
): Promise<readonly Run[] | "unsure"> {
  const found = new Map<string, Run>();
  let oldestMs: number | null = null;
  const end = await readPages(
    (query) => agentRuns.list({ ...query, ...filter }),
    { ...(name === undefined ? {} : { name }), by: "created_at", mostPages },
    async (runs, servedAt) => {
      const times = runs.map((run) => Date.parse(run.created_at));
      const newestMs = Math.max(servedAt ?? Number.NEGATIVE_INFINITY, ...times.filter(Number.isFinite));
      if (Number.isFinite(newestMs)) oldestMs ??= newestMs - (ageMs >= 0 ? ageMs : unknownAgeMs) - skewMs;
      const start = oldestMs ?? Number.NEGATIVE_INFINITY;
      // Whoever knew the id beforehand may have made a run with it.
      const ofDispatch = runs.filter(
        (run) => isOfDispatch(run, dispatch) && !(Date.parse(run.created_at) < start),
      );
      for (const run of ofDispatch) found.set(run.run_id, run);
      return runs.length > 0 && times.every((time) => time < start) ? "enough" : "more";
    },
  );
  return end === "cut" ? "unsure" : [...found.values()];
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
