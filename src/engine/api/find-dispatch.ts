import type { DispatchId } from "#core/place.ts";
import { dispatchKey, type Run, referenceLine } from "#core/run.ts";
import type { AgentRuns } from "#ports.ts";
import { readPages } from "./read-pages.ts";

/**
 * The most by which the service's clock may be behind ours, which may have been hours wrong at the decision (after
 * a sleep, in a wrong time zone). An overlooked run would be created twice.
 */
const clockMarginMs = 25 * 60 * 60_000;
const mostPages = 40;

/**
 * Searches for a run of the dispatch among the runs of a config name (undefined: any) created after `since`
 * (RFC 3339, our clock). Resolves with null if there is none, and with `unsure` if there are too many runs to
 * search. Rejects like `AgentRuns.list`.
 */
export async function findDispatch(
  agentRuns: AgentRuns,
  dispatch: DispatchId,
  { since, name }: { readonly since: string; readonly name: string | undefined },
): Promise<Run | null | "unsure"> {
  const sinceMs = Date.parse(since);
  let found: Run | null = null;
  const end = await readPages(
    (query) => agentRuns.list(query),
    {
      ...(name === undefined ? {} : { name }),
      by: "created_at",
      ...(Number.isNaN(sinceMs) ? {} : { after: sinceMs - clockMarginMs }),
      mostPages,
    },
    async (runs) => {
      found = runs.find((run) => isOfDispatch(run, dispatch)) ?? null;
      return found === null ? "more" : "enough";
    },
  );
  return end === "cut" ? "unsure" : found;
}

/** Metadata takes precedence, since a prompt may quote another dispatch's reference line. */
function isOfDispatch(run: Run, dispatch: DispatchId): boolean {
  const named = run.metadata?.[dispatchKey];
  return named === undefined ? hasReference(run.prompt, dispatch) : named === dispatch;
}

/** Returns whether the text contains the reference line of `id`. */
export function hasReference(text: string, id: string): boolean {
  const line = referenceLine(id);
  return text.split(/\r?\n/).some((other) => other.trim() === line);
}
