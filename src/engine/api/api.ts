import type { Log } from "#base/log.ts";
import type { ApiEffect } from "#core/effect.ts";
import type { Fault, Outcome } from "#core/outcome.ts";
import type { Thread } from "#core/thread.ts";
import { reasonOf } from "#engine/base/reason.ts";
import type { Deliver } from "#engine/follow/receive-run.ts";
import type { AgentRuns, Factories, Transcripts } from "#ports.ts";
import { faultOf, isApiFault } from "./api-fault.ts";

/** What performing an effect toward the API takes. */
export interface Api {
  readonly agentRuns: AgentRuns;
  readonly transcripts: Transcripts;
  readonly factories: Factories;
  readonly log: Log;
  readonly deliver: Deliver;
  /** Config name that marks our runs. */
  readonly runName: string;
}

export const failed = (fault: Fault): Outcome => ({ ok: false, fault });

/** The outcome of a rejected call. A defect is logged too, since people are told only that it happened. */
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

/** The outcome of a failed search for an earlier try: what became of that try is as unknown as before. */
export function lookupRejected(api: Api, effect: ApiEffect, error: unknown): Outcome {
  return failed({ ...rejected(api, effect, error).fault, certainty: "unknown" });
}

/** The run that the dispatch made; null while there is none. */
export function runIdOf(thread: Thread, dispatch: string): string | null {
  return thread.runs.find((run) => run.dispatch === dispatch)?.runId ?? null;
}

/** Effects of a run come after its creation in the same lane, so this happens only to what never got a run. */
export const noRun: Fault = {
  certainty: "refused",
  retryable: false,
  reason: "There is no run for this: it was never created.",
};
