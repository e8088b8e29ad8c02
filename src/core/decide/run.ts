/** Decides changes of runs: the record, the cards, and the report of the end. */
import type { Answer } from "#core/answer.ts";
import type { AnswerEffect, FollowUpEffect } from "#core/effect.ts";
import { identityOf, passedUntil, settlesAfter, standingOf } from "#core/news.ts";
import type { Fault } from "#core/outcome.ts";
import type { RunId } from "#core/place.ts";
import { isEnded, type Run } from "#core/run.ts";
import { hasFollowUp, type RunRecord } from "#core/thread.ts";
import type { View } from "#core/view.ts";
import { endView, lateAnswerView } from "#core/words/end.ts";
import { givenUpView, notStartedReason, notStartedView } from "#core/words/notes.ts";
import { add, type Draft, drop, runOf, updateRun } from "./draft.ts";

/** `updated_at` of a run before its first snapshot: older than any time the API gives. */
const neverUpdated = "1970-01-01T00:00:00.000Z";

/** Decides that the API has created the run. */
export function runCreated(draft: Draft, record: RunRecord, runId: RunId, state: string): void {
  updateRun(draft, record.dispatch, {
    runId,
    delay: null,
    run: {
      run_id: runId,
      title: record.request?.title ?? record.asked,
      // Ends are reported from snapshots only.
      state: isEnded(state) ? "QUEUED" : state,
      created_at: record.since,
      updated_at: neverUpdated,
    },
  });
}

/** Fault of a message to a run that never started. */
const notStarted: Fault = { certainty: "refused", retryable: false, reason: notStartedReason };

/** Decides that the run will never start: tells its places why, and drops the effects that waited for it. */
export function runNotStarted(
  draft: Draft,
  record: RunRecord,
  reason: string,
  link: string | undefined,
): void {
  const { dispatch } = record;
  const needsRun = new Set(["create", "follow-up", "cancel", "read"]);
  const waiting = drop(
    draft,
    (effect) => "dispatch" in effect && effect.dispatch === dispatch && needsRun.has(effect.kind),
  );
  updateRun(draft, dispatch, { failed: reason, open: false, delay: null, cancelling: false });
  const view = notStartedView(record.by, reason, link);
  const places = placesOf(draft, record);
  for (const place of places) add(draft, dispatch, { kind: "reply", at: place, view, dispatch });
  if (places.length === 0) tellAsker(draft, record, view);
  for (const effect of waiting) {
    if (effect.kind === "follow-up") followUpLost(draft, effect, notStarted);
  }
}

/** Sends the view privately to the requester of a run whose places can't get it. */
export function tellAsker(
  draft: Draft,
  { dispatch, by, answerVia }: RunRecord,
  view: View,
  cause: string = dispatch,
): void {
  add(draft, cause, {
    kind: "tell",
    at: draft.thread.scope,
    person: by,
    view,
    ...(answerVia === undefined ? {} : { answerVia }),
  });
}

/** Stops following an attached run whose card could not be posted, and tells the person who attached it. */
export function notFollowed(draft: Draft, record: RunRecord, reason: string): void {
  drop(draft, (effect) => effect.kind === "answer" && effect.dispatch === record.dispatch);
  updateRun(draft, record.dispatch, { failed: reason, open: false });
  tellAsker(draft, record, givenUpView("attach", reason, undefined));
}

/** Decides that the API has accepted the follow-up. */
export function followUpTaken(draft: Draft, { id, dispatch, from }: FollowUpEffect): void {
  updateRun(draft, dispatch, {
    reopened: true,
    open: true,
    followUps: (runOf(draft, dispatch)?.followUps ?? 0) + 1,
    lastFollowUp: id,
    settlesAt: settlesAfter(draft.nowMs),
    delay: null,
  });
  const { place, message } = from;
  if (message !== undefined) add(draft, id, { kind: "react", at: place, message, reaction: "taken" });
}

/** Decides that the API may have accepted the follow-up: an end from now on may be the end of its turn. */
export function followUpUnsure(draft: Draft, { dispatch }: FollowUpEffect): void {
  updateRun(draft, dispatch, { reopened: true, open: true, settlesAt: settlesAfter(draft.nowMs) });
}

/** Tells the follow-up's author how it failed. It may have arrived all the same, so the run gets time to settle. */
export function followUpLost(draft: Draft, effect: FollowUpEffect, { certainty, reason, link }: Fault): void {
  const { place, message, by } = effect.from;
  updateRun(draft, effect.dispatch, { delay: null, settlesAt: settlesAfter(draft.nowMs) });
  if (message !== undefined) {
    add(draft, effect.id, { kind: "react", at: place, message, reaction: "refused" });
  }
  const view = givenUpView(certainty === "unknown" ? "unsure" : "follow-up", reason, link);
  add(draft, effect.id, { kind: "tell", at: place, person: by, view });
}

function placesOf(draft: Draft, record: RunRecord): readonly string[] {
  const own = Object.keys(record.cards);
  return own.length > 0 ? own : draft.thread.places;
}

/** How certain a snapshot is, see `RunEvent`. */
export interface Certainty {
  readonly isSettled?: boolean;
  readonly isLasting?: boolean | undefined;
}

/**
 * Decides a snapshot of the run, unless the run has passed it. An end or a BLOCKED is reported once, and again if the
 * run has changed since a follow-up.
 *
 * Lists lag, so a snapshot that arrives after a follow-up may be from before it. The run therefore stays open
 * after such an end until its settling deadline; `isSettled`: the deadline has passed. `isLasting`: the run is at this
 * snapshot again, though it had passed it.
 */
export function runChanged(
  draft: Draft,
  record: RunRecord,
  run: Run,
  { isSettled = false, isLasting = false }: Certainty = {},
): void {
  if (standingOf(record, run) === "passed" && !isLasting) return;
  const { dispatch, run: last } = record;
  const { prompt: _, ...known } = run;
  const common: Partial<RunRecord> = {
    run: known,
    runId: run.run_id,
    name: run.agent_config?.name ?? record.name,
    passed: passedUntil(record, run),
  };
  const ended = isEnded(run.state);
  if (!ended && run.state !== "BLOCKED") {
    updateRun(draft, dispatch, { ...common, open: true });
    return;
  }
  // What was told last, unless the run was seen in another state since.
  const told = record.told?.state === last?.state ? record.told : null;
  // The end of an earlier turn may be seen after the follow-up was taken, by lists that lag.
  const isSettling = record.settlesAt != null;
  const mayGoOn = record.reopened || isSettling || (told !== null && isEnded(told.state) && record.open);
  const settlesAt = settlesAfter(draft.nowMs);
  const isSameState = told?.state === run.state;
  const isToldAlready = isTold(record, run);
  if ((isToldAlready && !isLasting) || (isSameState && !mayGoOn)) {
    const final = hasFollowUp(draft.thread, dispatch)
      ? { settlesAt }
      : { reopened: false, open: !ended, settlesAt: null };
    updateRun(draft, dispatch, { ...common, ...(isSettled && mayGoOn ? final : {}) });
    // The follow-up may have been answered in the very second of the end before it, or after what was shown then.
    const isUnseen = isSettled && mayGoOn && !hasFollowUp(draft.thread, dispatch);
    if (isUnseen) readAnswer(draft, record, known, ended && record.reopened ? "perhaps" : "yes");
    return;
  }
  const isEarlier = Date.parse(run.updated_at) < Date.parse(told?.updatedAt ?? "");
  // What the run had passed was told when it was there first.
  const isPerhapsTold = isToldAlready || isLasting;
  const isPassedOver = isSameState && isEarlier && !isPerhapsTold && !record.reopened;
  const isUnclear = isPerhapsTold || (isSameState && !record.reopened);
  updateRun(draft, dispatch, {
    ...common,
    told: { state: run.state, updatedAt: run.updated_at },
    reopened: !ended && record.reopened,
    open: !ended || mayGoOn,
    ...(mayGoOn ? { settlesAt } : {}),
    // A BLOCKED run was not cancelled, and may be cancelled again.
    cancelling: false,
  });
  readAnswer(draft, record, known, isPassedOver ? "passed-over" : isUnclear ? "perhaps" : undefined);
}

function readAnswer(
  draft: Draft,
  { dispatch, lastFollowUp }: RunRecord,
  run: AnswerEffect["run"],
  reported: AnswerEffect["reported"],
): void {
  // An attached run may have ended before its card began a place.
  const card = draft.thread.effects.find(
    (effect) => effect.kind === "card" && effect.dispatch === dispatch && effect.message === undefined,
  );
  // It may be the end of the turn of a follow-up that is being looked for: until it is found, its answer isn't either.
  const unsure = draft.thread.effects.find(
    (effect) => effect.kind === "follow-up" && effect.dispatch === dispatch && effect.uncertain,
  );
  const first = card ?? unsure;
  add(draft, dispatch, {
    kind: "answer",
    dispatch,
    run,
    ...(reported === undefined ? {} : { reported }),
    ...(lastFollowUp === undefined ? {} : { followUp: lastFollowUp }),
    ...(first === undefined ? {} : { after: first.id }),
  });
}

/** Returns whether this very end or BLOCKED was told last. */
const isTold = ({ told }: RunRecord, run: Run): boolean =>
  told !== null && identityOf({ state: told.state, updated_at: told.updatedAt }) === identityOf(run);

/** Reports the end or BLOCKED in each of the run's places; undefined: the answer could not be read. */
export function tellEnd(
  draft: Draft,
  { dispatch, run, reported }: AnswerEffect,
  answer: Answer | undefined,
): void {
  const record = runOf(draft, dispatch);
  if (record === undefined) return;
  const isAnswered = answer?.text != null;
  const isFurther = (answer?.answered ?? 0) > (record.answered ?? 0);
  // The agent is not seen to have written since the last report: this end was reported then, or passed over.
  const isCovered = reported !== undefined && !isFurther;
  if (isCovered && !(reported === "passed-over" && isAnswered)) return;
  if (!isCovered) {
    updateRun(draft, dispatch, {
      ...(answer === undefined ? {} : { answered: answer.answered }),
      silentAt: isAnswered ? null : run.updated_at,
    });
  }
  if (reported === "yes" && !isAnswered) return;
  const view =
    reported === "yes" ? lateAnswerView(record, run, answer?.text ?? "") : endView(record, run, answer?.text);
  for (const place of placesOf(draft, record))
    add(draft, dispatch, { kind: "reply", at: place, view, dispatch });
}
