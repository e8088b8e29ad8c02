import type { Log } from "#base/log.ts";
import { reasonOf } from "#base/reason.ts";
import type { ApiEffect } from "#core/effect.ts";
import { type Fault, type Outcome, ofOtherRequest } from "#core/outcome.ts";
import type { DispatchId, RunId } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import type { Deliver } from "#engine/follow/receive-run.ts";
import type { AgentRuns, Clock, Factories, Transcripts } from "#ports.ts";
import { faultOf, isApiFault } from "./api-fault.ts";
import type { Progress } from "./find-dispatch.ts";

/** Dependencies of the effects on the API. */
export interface Api {
  readonly agentRuns: AgentRuns;
  readonly transcripts: Transcripts;
  readonly factories: Factories;
  readonly clock: Clock;
  readonly log: Log;
  readonly deliver: Deliver;
  /** The searches for runs that are too long for one try. */
  readonly searches: Map<DispatchId, Progress>;
  /** Config name of the bot's runs. */
  readonly runName: string;
}

/** Returns the outcome of a failed effect. */
export const failed = (fault: Fault): Outcome => ({ ok: false, fault });

/** Returns the outcome of a rejected call. Logs a defect, since its fault doesn't name the cause. */
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

/** Returns the outcome of a failed search for an earlier try, whose result stays unknown. */
export function lookupRejected(api: Api, effect: ApiEffect, error: unknown): Outcome & { ok: false } {
  const fault = ofOtherRequest(rejected(api, effect, error).fault);
  return { ok: false, fault: { ...fault, certainty: "unknown", searching: true } };
}

/** Returns the id of the dispatch's run; null if there is none yet. */
export const runIdOf = (thread: Thread, dispatch: DispatchId): RunId | null =>
  thread.runs.find((run) => run.dispatch === dispatch)?.runId ?? null;

/** A run's effects follow its creation in the same lane, so this run was never created. */
export const noRun: Fault = {
  certainty: "refused",
  retryable: false,
  reason: "There is no run for this: it was never created.",
};

const notFound = 404;
/** A run may become readable so late: about a minute of tries. */
const mostUnreadableTries = 6;

/** Returns whether the error says that the run of an effect does not exist, and lag may be the reason. */
export const mayAppear = (error: unknown, { tries }: ApiEffect): boolean =>
  isApiFault(error) && error.status === notFound && tries < mostUnreadableTries;
