import type { CreateEffect } from "#core/effect.ts";
import { dispatchKey, type Run, referenceLine } from "#core/run.ts";
import type { AgentRuns } from "#ports.ts";
import { readPages } from "./read-pages.ts";

/**
 * How far the service's clock may be behind ours. Our own may have been hours wrong when the effect was decided,
 * as after a sleep or in a wrong time zone; a run overlooked for that would be made twice.
 */
const clockMarginMs = 25 * 60 * 60_000;
const mostPages = 40;

/**
 * Looks for the run that an earlier try of the dispatch may have made. null: there is surely none;
 * `unsure`: there were too many runs to look through. Rejects like `AgentRuns.list`.
 */
export async function findDispatch(
  agentRuns: AgentRuns,
  effect: CreateEffect,
): Promise<Run | null | "unsure"> {
  const { request, dispatch, factory } = effect;
  const since = Date.parse(effect.since);
  // A factory names its runs itself, and a skill may give its own name to a run.
  const named = factory === undefined && request.skill === undefined;
  let found: Run | null = null;
  const end = await readPages(
    (query) => agentRuns.list(query),
    {
      ...(named ? { name: request.config.name } : {}),
      by: "created_at",
      ...(Number.isNaN(since) ? {} : { after: since - clockMarginMs }),
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
function isOfDispatch(run: Run, dispatch: string): boolean {
  const named = run.metadata?.[dispatchKey];
  return named === undefined ? hasReference(run.prompt, dispatch) : named === dispatch;
}

/** Whether one of the text's lines is the reference line of `id`. */
export function hasReference(text: string, id: string): boolean {
  const line = referenceLine(id);
  return text.split(/\r?\n/).some((other) => other.trim() === line);
}
