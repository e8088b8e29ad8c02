import { answerOf, areTimesInOrder, missedAnswer, saidUntil } from "#core/answer.ts";
import type { AnswerEffect, ApiEffect, CancelEffect } from "#core/effect.ts";
import { identityOf } from "#core/news.ts";
import { type Fault, type Outcome, stillSettling } from "#core/outcome.ts";
import type { RunId, Scope } from "#core/place.ts";
import { isEnded, type Run, scopeKey } from "#core/run.ts";
import type { Thread } from "#core/thread.ts";
import type { Attempt } from "#ports.ts";
import { type Api, failed, mayAppear, noRun, rejected, runIdOf } from "./api.ts";
import { faultOf, isApiFault } from "./api-fault.ts";
import { createRun } from "./create-run.ts";
import { readPages } from "./read-pages.ts";
import { isFollowUpAfter, sendFollowUp, timesIn } from "./send-follow-up.ts";
import { countMessages, endTwinRuns } from "./twins.ts";

/** A scope's list ends after so many runs or pages. */
const listedAtLeast = 10;
const mostPages = 3;
const badRequest = 400;
const notFound = 404;

/** Performs one of the thread's effects on the Agent Runs API. Never rejects. */
export async function performApiEffect(
  api: Api,
  effect: ApiEffect,
  thread: Thread,
  attempt: Attempt,
): Promise<Outcome> {
  try {
    return await performOrReject(api, effect, thread, attempt);
  } catch (error) {
    return rejected(api, effect, error);
  }
}

function performOrReject(api: Api, effect: ApiEffect, thread: Thread, attempt: Attempt): Promise<Outcome> {
  switch (effect.kind) {
    case "create":
      return createRun(api, effect, thread, attempt);
    case "follow-up":
      return sendFollowUp(api, effect, thread, attempt);
    case "cancel":
      return cancelRun(api, effect, runIdOf(thread, effect.dispatch), attempt);
    case "fetch":
      return fetchRun(api, effect.runId);
    case "answer":
      return readAnswer(api, effect, thread);
    case "list":
      return listOurs(api, effect.asked.scope);
    case "twin-runs":
      return endTwinRuns(api, effect, thread);
    case "twin-messages":
      return countMessages(api, effect, thread);
    default:
      return effect satisfies never;
  }
}

async function cancelRun(
  api: Api,
  effect: CancelEffect,
  runId: RunId | null,
  { uncertain, settlesInMs }: Attempt,
): Promise<Outcome> {
  if (runId === null) return failed(noRun);
  try {
    await api.agentRuns.cancel(runId);
  } catch (error) {
    if (mayAppear(error, effect)) return failed({ ...faultOf(error), retryable: true });
    // The API refuses to cancel an ended run with a 400, which may also have other reasons.
    if (!isApiFault(error) || error.status !== badRequest) throw error;
    const now = await fetchRun(api, runId).catch((fault: unknown) => {
      throw isApiFault(fault) && !fault.retryable ? error : fault;
    });
    const isStillActive = !now.ok || now.kind !== "fetch" || (now.run !== null && !isEnded(now.run.state));
    if (isStillActive && uncertain && settlesInMs > 0)
      return failed(stillSettling(settlesInMs, effect.tries));
    if (isStillActive) throw error;
  }
  return { ok: true, kind: "cancel" };
}

async function fetchRun(api: Api, runId: RunId): Promise<Outcome> {
  try {
    return { ok: true, kind: "fetch", run: await api.agentRuns.fetch(runId) };
  } catch (error) {
    if (isApiFault(error) && error.status === notFound) return { ok: true, kind: "fetch", run: null };
    throw error;
  }
}

/** Conversations appear later than ends. An end that may have no answer is looked at so often, within 7 seconds. */
const mostSilentTries = 3;
/**
 * The same for about a minute: the run must have said something, or the conversation lacks the last follow-up.
 */
const mostLaggingTries = 6;

const notShownYet: Fault = {
  certainty: "refused",
  retryable: true,
  reason: "The run's conversation does not show its answer yet.",
};

async function readAnswer(api: Api, effect: AnswerEffect, thread: Thread): Promise<Outcome> {
  const { dispatch, run, tries, followUp, reported } = effect;
  const record = thread.runs.find((known) => known.dispatch === dispatch);
  if (!record?.runId) return failed(noRun);
  const shown = await api.transcripts.messages(record.runId);
  const answered = record.answered ?? 0;
  const isInOrder = areTimesInOrder(shown ?? [], answered);
  // An end in another state than the last reported one is news, but it may be from before that, too.
  const isPassedOver = isInOrder && (reported === undefined || reported === "passed-over");
  const missed = isPassedOver ? missedAnswer(shown ?? [], run.updated_at, answered) : null;
  if (missed !== null) return { ok: true, kind: "answer", text: missed, answered };
  // The run of an end that may have been told may have gone on, perhaps while a limit was waited out.
  const again = reported !== undefined;
  const messages = again && isInOrder ? saidUntil(shown ?? [], run.updated_at, answered) : (shown ?? []);
  const isCurrent = !isInOrder && (await isStillAt(api, record.runId, effect));
  const answer = answerOf(messages, {
    endedAt: run.updated_at,
    answered,
    isLater: (text) => isFollowUpAfter(effect.id, text, thread),
    isCurrent,
    silentAt: record.silentAt,
  });
  const lacksFollowUp = followUp !== undefined && timesIn(messages, followUp) === 0;
  const isWanted = run.state !== "CANCELLED";
  // A run may fail before it has a conversation, but it neither succeeds nor asks without a word.
  const isSpoken =
    followUp !== undefined || answered > 0 || run.state === "SUCCEEDED" || run.state === "BLOCKED";
  const mayLag = shown !== null && (lacksFollowUp || (answer.text === null && isWanted && isSpoken));
  const mostTries = mayLag ? mostLaggingTries : isWanted && !answer.text ? mostSilentTries : 0;
  // An end that may have been told is not waited for, since its run may go on meanwhile, and the next answer appear.
  if (tries < mostTries && !again) return failed(notShownYet);
  // A report that is repeated covers only what the agent has written since.
  const covered = again && answer.text === null ? answered : answer.answered;
  return { ok: true, kind: "answer", text: answer.text || null, answered: covered };
}

/** Returns whether the run is still in this end; false too if it can't be read, which must not cost the answer. */
async function isStillAt(api: Api, runId: RunId, { run, tries }: AnswerEffect): Promise<boolean> {
  try {
    return identityOf(await api.agentRuns.fetch(runId)) === identityOf(run);
  } catch (error) {
    if (faultOf(error).retryable && tries < mostLaggingTries) throw error;
    return false;
  }
}

/** Lists the scope's runs of any config name, since a factory, a skill or a person may have chosen another. */
async function listOurs(api: Api, scope: Scope): Promise<Outcome> {
  const runs: Run[] = [];
  const list = api.agentRuns.list.bind(api.agentRuns);
  await readPages(list, { by: "created_at", mostPages }, async (page) => {
    runs.push(...page.filter((run) => run.metadata?.[scopeKey] === scope));
    return runs.length < listedAtLeast ? "more" : "enough";
  });
  return { ok: true, kind: "list", runs };
}
