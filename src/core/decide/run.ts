/** What a run's change means: its record, its cards, and the telling of its end. */

import type { AnswerEffect, FollowUpEffect } from "#core/effect.ts";
import { isEnded, type Run } from "#core/run.ts";
import type { RunRecord } from "#core/thread.ts";
import type { View } from "#core/view.ts";
import { endView } from "#core/words/end.ts";
import { givenUpView, notStartedReason, notStartedView } from "#core/words/notes.ts";
import { add, type Draft, drop, runOf, updateRun } from "./draft.ts";

/** `updated_at` of a run of which only the creation is known: older than any the API tells. */
const neverUpdated = "1970-01-01T00:00:00.000Z";

/** The API made the run. */
export function runCreated(draft: Draft, record: RunRecord, runId: string, state: string): void {
  updateRun(draft, record.dispatch, {
    runId,
    delay: null,
    run: {
      run_id: runId,
      title: record.request?.title ?? record.asked,
      // Lists may leave a run out for a while; until one shows it, this is all we know.
      state: isEnded(state) ? "QUEUED" : state,
      created_at: record.since,
      updated_at: neverUpdated,
    },
  });
}

/** There will never be a run. Whatever waited for it is told so. */
export function runNotStarted(
  draft: Draft,
  record: RunRecord,
  reason: string,
  link: string | undefined,
): void {
  const waiting = drop(
    draft,
    (effect) =>
      (effect.kind === "create" ||
        effect.kind === "follow-up" ||
        effect.kind === "cancel" ||
        effect.kind === "read") &&
      effect.dispatch === record.dispatch,
  );
  updateRun(draft, record.dispatch, { failed: reason, open: false, delay: null, cancelling: false });
  const view = notStartedView(record.by, reason, link);
  const places = placesOf(draft, record);
  const { dispatch } = record;
  for (const place of places) add(draft, dispatch, { kind: "reply", at: place, view, dispatch });
  if (places.length === 0) tellAsker(draft, record, view);
  for (const effect of waiting) {
    if (effect.kind === "follow-up") followUpLost(draft, effect, notStartedReason, undefined);
  }
}

/** For what no place of the run can be told: whoever asked for it hears it privately, where the place would lie. */
export function tellAsker(
  draft: Draft,
  { dispatch, by, answerVia }: RunRecord,
  view: View,
  cause = dispatch,
): void {
  add(draft, cause, {
    kind: "tell",
    at: draft.thread.scope,
    person: by,
    view,
    ...(answerVia === undefined ? {} : { answerVia }),
  });
}

/** An attached run whose card can't stand anywhere is not followed; whoever attached it is told. */
export function notFollowed(draft: Draft, record: RunRecord, reason: string): void {
  drop(draft, (effect) => effect.kind === "answer" && effect.dispatch === record.dispatch);
  updateRun(draft, record.dispatch, { failed: reason, open: false });
  tellAsker(draft, record, givenUpView("attach", reason, undefined));
}

export function followUpLost(
  draft: Draft,
  effect: FollowUpEffect,
  reason: string,
  link: string | undefined,
): void {
  const { place, message, by } = effect.from;
  updateRun(draft, effect.dispatch, { delay: null });
  if (message !== undefined) {
    add(draft, effect.id, { kind: "react", at: place, message, reaction: "refused" });
  }
  const view = givenUpView("follow-up", reason, link);
  add(draft, effect.id, { kind: "tell", at: place, person: by, view });
}

/** Everywhere people follow this run. */
const placesOf = (draft: Draft, record: RunRecord): readonly string[] => {
  const own = Object.keys(record.cards);
  return own.length > 0 ? own : draft.thread.places;
};

/**
 * Takes in what the API says of a run. An older word than the last is passed over. An end or a BLOCKED is
 * told if it wasn't, or if a follow-up was taken since and the run has moved on.
 *
 * What is heard after a follow-up was taken may still be older than it: lists lag, and so do answers under way.
 * So an end that is heard then is told, and the run stays open until the engine, which waits a while with that,
 * shows the same end once more.
 */
export function runChanged(draft: Draft, record: RunRecord, run: Run, waited = false): void {
  if (record.run !== null && Date.parse(run.updated_at) < Date.parse(record.run.updated_at)) return;
  const { prompt: _, ...known } = run;
  const common: Partial<RunRecord> = {
    run: known,
    runId: run.run_id,
    name: run.agent_config?.name ?? record.name,
  };
  const ended = isEnded(run.state);
  if (!ended && run.state !== "BLOCKED") {
    updateRun(draft, record.dispatch, { ...common, told: null, open: true });
    return;
  }
  const { told } = record;
  const mayGoOn = record.reopened || (told !== null && isEnded(told.state) && record.open);
  if (told !== null && told.state === run.state) {
    const later = Date.parse(run.updated_at) > Date.parse(told.updatedAt);
    if (!later || !mayGoOn) {
      const isOver = waited && !later && mayGoOn && !isSteered(draft, record.dispatch);
      updateRun(draft, record.dispatch, { ...common, ...(isOver ? { reopened: false, open: !ended } : {}) });
      return;
    }
  }
  const again = told !== null && told.state === run.state && !record.reopened;
  updateRun(draft, record.dispatch, {
    ...common,
    told: { ...(again ? told : {}), state: run.state, updatedAt: run.updated_at },
    reopened: !ended && record.reopened,
    open: !ended || mayGoOn,
    // A run that asks something was not cancelled, and may be told to stop once more.
    cancelling: false,
  });
  // An attached run can have ended before its card gave it a place.
  const card = draft.thread.effects.find(
    (effect) => effect.kind === "card" && effect.dispatch === record.dispatch && effect.message === undefined,
  );
  add(draft, record.dispatch, {
    kind: "answer",
    dispatch: record.dispatch,
    run: known,
    ...(again ? { again } : {}),
    ...(card === undefined ? {} : { after: card.id }),
  });
}

/** A follow-up is on its way to the run. */
const isSteered = (draft: Draft, dispatch: string): boolean =>
  draft.thread.effects.some((effect) => effect.kind === "follow-up" && effect.dispatch === dispatch);

/** Tells apart what two answers say, in a few letters (FNV-1a). */
function gistOf(answer: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < answer.length; index += 1) {
    hash = Math.imul(hash ^ answer.charCodeAt(index), 0x01000193) >>> 0;
  }
  return `${answer.length}-${hash.toString(16)}`;
}

/** Tells the end in each place. `answer` as in `endView`. */
export function tellEnd(
  draft: Draft,
  { dispatch, run, again }: AnswerEffect,
  answer: string | null | undefined,
): void {
  const record = runOf(draft, dispatch);
  if (record === undefined) return;
  const gist = gistOf(answer ?? "");
  // No follow-up came between: the run was only touched, and the same end is not told twice.
  if (again && record.told?.gist === gist) return;
  if (record.told !== null) updateRun(draft, dispatch, { told: { ...record.told, gist } });
  const view = endView(record, run, answer);
  for (const place of placesOf(draft, record))
    add(draft, dispatch, { kind: "reply", at: place, view, dispatch });
}
