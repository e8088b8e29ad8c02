import type { Log } from "#base/log.ts";
import { reasonOf } from "#base/reason.ts";
import type { ApiEffect } from "#core/effect.ts";
import type { Fault, Outcome } from "#core/outcome.ts";
import type { DispatchId, RunId } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import type { Deliver } from "#engine/follow/receive-run.ts";
import type { AgentRuns, Factories, Transcripts } from "#ports.ts";
import { faultOf, isApiFault } from "./api-fault.ts";

/** What effects toward the API are performed with. */
export interface Api {
  readonly agentRuns: AgentRuns;
  readonly transcripts: Transcripts;
  readonly factories: Factories;
  readonly log: Log;
  readonly deliver: Deliver;
  /** Config name that marks our runs. */
  readonly runName: string;
}

/** The outcome of an effect that failed. */
export const failed = (fault: Fault): Outcome => ({ ok: false, fault });

/** The outcome of a rejected call. The cause of a defect is logged, since people are only told of it. */
export function rejected(api: Api, effect: ApiEffect, error: unknown): Outcome & { ok: false } {
  if (!isApiFault(error)) {
    api.log.error("A call of the Agent Runs API failed unexpectedly", {
      effect: effect.id,
      kind: effect.kind,
      reason: reasonOf(error),
    });
  }
  return { ok: false, fault: faultOf(error) };
}

/** The outcome of a failed search for an earlier try, whose fate stays unknown. */
export function lookupRejected(api: Api, effect: ApiEffect, error: unknown): Outcome {
  return failed({ ...rejected(api, effect, error).fault, certainty: "unknown" });
}

/** Id of the dispatch's run; null while there is none. */
export const runIdOf = (thread: Thread, dispatch: DispatchId): RunId | null =>
  thread.runs.find((run) => run.dispatch === dispatch)?.runId ?? null;

/** The run's effects follow its creation in the same lane, so this happens only if it was never created. */
export const noRun: Fault = {
  certainty: "refused",
  retryable: false,
  reason: "There is no run for this: it was never created.",
};
