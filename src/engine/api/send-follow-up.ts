import { reasonOf } from "#base/reason.ts";
import type { FollowUpEffect } from "#core/effect.ts";
import { isNews } from "#core/news.ts";
import type { Fault, Outcome } from "#core/outcome.ts";
import type { RunId } from "#core/place.ts";
import { isEnded } from "#core/run.ts";
import type { Thread } from "#core/thread.ts";
import type { Attempt } from "#ports.ts";
import { type Api, failed, lookupRejected, noRun, runIdOf } from "./api.ts";
import { faultOf, isApiFault } from "./api-fault.ts";
import { hasReference } from "./find-dispatch.ts";

const arrivalUnsure: Fault = {
  certainty: "unknown",
  retryable: true,
  reason: "The run has no conversation yet that would show whether the message arrived.",
};

/** An ended run shows an accepted message within so many tries, about 20 seconds. */
const mostUnsureTries = 5;

/** Sends the message to its run, unless the run's conversation shows that an earlier try arrived. */
export async function sendFollowUp(
  api: Api,
  effect: FollowUpEffect,
  thread: Thread,
  attempt: Attempt,
): Promise<Outcome> {
  const runId = runIdOf(thread, effect.dispatch);
  if (runId === null) return failed(noRun);
  if (attempt.uncertain) {
    try {
      const arrived = await hasArrived(api, runId, effect);
      if (arrived === "yes") return { ok: true, kind: "follow-up" };
      if (arrived === "unsure") return failed(arrivalUnsure);
    } catch (error) {
      return lookupRejected(api, effect, error);
    }
  }
  const unread = await deliverLatest(api, runId, thread);
  if (unread !== null) return failed(unread);
  await api.agentRuns.followUp(runId, { message: effect.message });
  return { ok: true, kind: "follow-up" };
}

/**
 * Delivers the run's latest snapshot to its thread before a follow-up changes the run; otherwise an end that no
 * sweep has seen would never be reported. Returns a fault if the run can't be read and another try may help.
 */
async function deliverLatest(api: Api, runId: RunId, thread: Thread): Promise<Fault | null> {
  const record = thread.runs.find((known) => known.runId === runId);
  try {
    const run = await api.agentRuns.fetch(runId);
    if (record !== undefined && isNews(record, run, false)) await api.deliver({ kind: "run", run });
  } catch (error) {
    const reason = isApiFault(error) ? error.reason : reasonOf(error);
    api.log.info("The run could not be read before a follow-up", { run: runId, reason });
    const fault = faultOf(error);
    return fault.retryable ? { ...fault, certainty: "not-sent" } : null;
  }
  return null;
}

async function hasArrived(
  api: Api,
  runId: RunId,
  { id, tries }: FollowUpEffect,
): Promise<"yes" | "no" | "unsure"> {
  const messages = await api.transcripts.messages(runId);
  if (messages !== null) {
    const arrived = messages.some(({ role, text }) => role === "user" && hasReference(text, id));
    return arrived ? "yes" : "no";
  }
  // A run that has hardly begun has no conversation yet, though the message may be queued.
  const { state } = await api.agentRuns.fetch(runId);
  // A run that ended before it began may be about to continue with the message.
  return (isEnded(state) && tries >= mostUnsureTries) || state === "BLOCKED" ? "no" : "unsure";
}
