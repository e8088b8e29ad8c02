import { reasonOf } from "#base/reason.ts";
import type { TranscriptMessage } from "#core/answer.ts";
import type { FollowUpEffect } from "#core/effect.ts";
import { type Fault, type Outcome, ofOtherRequest, stillSettling } from "#core/outcome.ts";
import type { EffectId, RunId } from "#core/place.ts";
import { isEnded, referenceLine } from "#core/run.ts";
import type { Thread } from "#core/thread.ts";
import type { Attempt } from "#ports.ts";
import { type Api, failed, lookupRejected, mayAppear, noRun, runIdOf } from "./api.ts";
import { faultOf, isApiFault } from "./api-fault.ts";

/** Returns the fault of a search during which the run may still come to the message. */
const arrivalUnsure = (tries: number): Fault => ({
  ...stillSettling(Number.POSITIVE_INFINITY, tries),
  reason: "The run's conversation does not show yet whether the message arrived.",
  mayStillHappen: true,
});

/** The fault of a search in a conversation that will never be readable: a second message would be worse than none. */
const arrivalUnknowable: Fault = {
  certainty: "unknown",
  retryable: false,
  searching: true,
  reason: "the run's conversation can't be read. Look at its session before you send it again.",
};

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
      if (arrived === "unknowable") return failed(arrivalUnknowable);
      if (arrived === "unsure") return failed(arrivalUnsure(effect.tries));
      if (attempt.settlesInMs > 0) return failed(stillSettling(attempt.settlesInMs, effect.tries));
    } catch (error) {
      const rejection = lookupRejected(api, effect, error);
      return mayAppear(error, effect) ? failed({ ...rejection.fault, retryable: true }) : rejection;
    }
  }
  const unread = await deliverLatest(api, runId, effect);
  if (unread !== null) return failed(unread);
  await api.agentRuns.followUp(runId, { message: effect.message });
  return { ok: true, kind: "follow-up" };
}

/**
 * Delivers the run's latest snapshot to its thread before a follow-up changes the run; otherwise an end that no
 * sweep has seen, or that has yet to settle, would never be reported. Returns a fault if the run can't be read and
 * another try may help.
 */
async function deliverLatest(api: Api, runId: RunId, effect: FollowUpEffect): Promise<Fault | null> {
  try {
    const run = await api.agentRuns.fetch(runId);
    await api.deliver({ kind: "run", run });
  } catch (error) {
    const reason = isApiFault(error) ? error.reason : reasonOf(error);
    api.log.info("The run could not be read before a follow-up", { run: runId, reason });
    const fault = ofOtherRequest(faultOf(error));
    const mayBeReadLater = fault.retryable || mayAppear(error, effect);
    return mayBeReadLater ? { ...fault, retryable: true, certainty: "not-sent" } : null;
  }
  return null;
}

/** A run may work for hours, and people's messages can't wait as long: after so long its silence counts. */
const longestDoubtMs = 10 * 60_000;

async function hasArrived(
  api: Api,
  runId: RunId,
  { id, ageMs = 0 }: FollowUpEffect,
): Promise<"yes" | "no" | "unsure" | "unknowable"> {
  const messages = await api.transcripts.messages(runId);
  if (messages === null) return "unknowable";
  if (timesIn(messages, id) > 0) return "yes";
  // A message that is queued for a run at work may appear only when the run comes to it.
  const { state } = await api.agentRuns.fetch(runId);
  if (isEnded(state) || state === "BLOCKED") return "no";
  return ageMs < longestDoubtMs ? "unsure" : "no";
}

/** Returns how often people's messages contain the reference line of `id`. */
export const timesIn = (messages: readonly TranscriptMessage[], id: EffectId): number =>
  messages
    .filter(({ role }) => role === "user")
    .flatMap(({ text }) => text.split(/\r?\n/))
    .filter((line) => line.trim() === referenceLine(id)).length;

const followUpLine = new RegExp(`^${referenceLine("(\\S+)/follow-up/(\\d+)")}\\s*$`, "m");

/** Returns whether the text is a follow-up of the thread that was decided after the effect. */
export function isFollowUpAfter(effect: EffectId, text: string, { seen }: Thread): boolean {
  const [, event = "", order] = followUpLine.exec(text) ?? [];
  return Number(order) > Number(effect.split("/").at(-1)) && seen.includes(event);
}
