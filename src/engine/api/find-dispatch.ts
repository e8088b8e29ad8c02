import type { DispatchId } from "#core/place.ts";
import { dispatchKey, type Run, referenceLine } from "#core/run.ts";
import type { AgentRuns } from "#ports.ts";
import { readPages } from "./read-pages.ts";

/**
 * The most by which the service's clock may be behind ours, which itself may have been hours wrong when the
 * effect was decided (after a sleep, in a wrong time zone). An overlooked run would be created twice.
 */
const clockMarginMs = 25 * 60 * 60_000;
const mostPages = 40;

/**
 * Looks for the run that an earlier try of the dispatch may have created, among those with the config name
 * (undefined: any) that were created after `since` (RFC 3339, our clock). null: there is none; `unsure`: there
 * are too many runs to look through. Rejects like `AgentRuns.list`.
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

/** The metadata decides where it names a dispatch: a prompt may quote another one's reference line. */
function isOfDispatch(run: Run, dispatch: DispatchId): boolean {
  const named = run.metadata?.[dispatchKey];
  return named === undefined ? hasReference(run.prompt, dispatch) : named === dispatch;
}

/** Whether one of the text's lines is the reference line of `id`. */
export function hasReference(text: string, id: string): boolean {
  const line = referenceLine(id);
  return text.split(/\r?\n/).some((other) => other.trim() === line);
}
