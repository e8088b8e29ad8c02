/** What the outcome of an effect means. */
import { backoffMs } from "#base/backoff.ts";
import type { Effect } from "#core/effect.ts";
import type { PersonEvent } from "#core/event.ts";
import { type Done, type Fault, type Outcome, takenCode } from "#core/outcome.ts";
import { type EffectId, placeAt } from "#core/place.ts";
import { delayOf } from "#core/words/card.ts";
import { elsewhereView } from "#core/words/end.ts";
import { alreadyFollowedView, givenUpView } from "#core/words/notes.ts";
import { attachedRun, listed, notTaken } from "./command.ts";
import { addContext } from "./dispatch.ts";
import { type Draft, drop, replaceEffect, runOf, tell, updateRun } from "./draft.ts";
import { permissionKnown, permissionUnknown } from "./person.ts";
import {
  followUpLost,
  followUpTaken,
  notFollowed,
  runCreated,
  runNotStarted,
  tellAsker,
  tellEnd,
} from "./run.ts";

/** The first and the longest wait between two tries. */
const firstWaitMs = 1_000;
const longestWaitMs = 5 * 60_000;
const fewestTries = 10;
/** Reads are given up after these limits; whatever waits for them continues without them. */
const mostReadTries = 4;
type Reading = Extract<Effect, { kind: "answer" | "read" | "fetch" | "list" }>;
const readForMs: Readonly<Record<Reading["kind"], number>> = {
  // A courtesy to the run that waits for it.
  read: 0,
  // The API may be restarting, but a person waits for the answer.
  fetch: 30_000,
  list: 30_000,
  // An end that is told without its answer is never told with it.
  answer: 2 * 60_000,
};
/** People are told of a failure after so many tries or so much time. */
const unsaidTries = 1;
const unsaidMs = 10_000;

/** Decides the outcome of a pending effect; `random`, 0 to 1, spreads the next try. */
export function decideOutcome(draft: Draft, effectId: EffectId, outcome: Outcome, random: number): void {
  const effect = draft.thread.effects.find((pending) => pending.id === effectId);
  if (effect === undefined) return;
  if (outcome.ok) done(draft, effect, outcome);
  else if (triedAgain(draft, effect, outcome.fault)) tryLater(draft, effect, outcome.fault, random);
  else {
    drop(draft, (pending) => pending.id === effect.id);
    givenUp(draft, effect, outcome.fault);
  }
}

const isReading = (effect: Effect): effect is Reading => effect.kind in readForMs;

/**
 * Whether the effect is tried again: never after a final refusal; always after a rate limit (promise 7), but
 * for reads that somebody waits for; otherwise for `retryForMs`.
 */
function triedAgain(draft: Draft, effect: Effect, fault: Fault): boolean {
  if (!fault.retryable) return false;
  const ageMs = draft.nowMs - Date.parse(effect.since);
  if (fault.limited === true && (effect.kind === "answer" || !isReading(effect))) return true;
  if (isReading(effect)) {
    return effect.tries + 1 < mostReadTries || ageMs < readForMs[effect.kind];
  }
  // The bot may have been down for most of that time.
  if (effect.tries + 1 < fewestTries) return true;
  return ageMs < draft.rules.retryForMs;
}

function tryLater(draft: Draft, effect: Effect, fault: Fault, random: number): void {
  const tries = effect.tries + 1;
  const growingMs = backoffMs(tries, firstWaitMs, longestWaitMs, random);
  // The last try of a read comes when its time is over, not a long wait later.
  const leftMs = isReading(effect) ? Date.parse(effect.since) + readForMs[effect.kind] - draft.nowMs : 0;
  const pauseMs = leftMs > 0 ? Math.min(growingMs, leftMs) : growingMs;
  const waitMs = Math.max(pauseMs, (fault.retryAfterMs ?? 0) * (1 + random / 10));
  replaceEffect(draft, {
    ...effect,
    tries,
    notBefore: new Date(draft.nowMs + waitMs).toISOString(),
    uncertain: effect.uncertain === true || fault.certainty === "unknown",
  });
  const isSaid = tries > unsaidTries || draft.nowMs - Date.parse(effect.since) >= unsaidMs;
  if (!isSaid) return;
  // What people wait for says so on its card (promise 5), with the first reason alone.
  if (effect.kind !== "create" && effect.kind !== "follow-up" && effect.kind !== "cancel") return;
  const { kind, dispatch } = effect;
  if (runOf(draft, dispatch)?.delay === null) {
    updateRun(draft, dispatch, { delay: delayOf(kind, fault.reason) });
  }
}

function done(draft: Draft, effect: Effect, outcome: Done): void {
  // A newer view, decided while the older one was being sent, is still to be sent.
  const newer =
    (effect.kind === "card" && outcome.kind === "card" && outcome.revision < effect.revision) ||
    (effect.kind === "label" && outcome.kind === "label" && outcome.revision < effect.revision);
  if (newer) {
    const { notBefore: _, ...rest } = effect;
    const sent =
      rest.kind === "card" && outcome.kind === "card"
        ? { ...rest, at: outcome.place, to: outcome.place, message: outcome.message }
        : rest;
    replaceEffect(draft, { ...sent, tries: 0, uncertain: false });
  } else drop(draft, (pending) => pending.id === effect.id);

  switch (outcome.kind) {
    case "create": {
      const record = effect.kind === "create" ? runOf(draft, effect.dispatch) : undefined;
      if (record) runCreated(draft, record, outcome.runId, outcome.state);
      return;
    }
    case "follow-up":
      if (effect.kind === "follow-up") followUpTaken(draft, effect);
      return;
    case "fetch":
      if (effect.kind === "fetch") attachedRun(draft, effect, outcome.run);
      return;
    case "answer":
      if (effect.kind === "answer") tellEnd(draft, effect, outcome.text);
      return;
    case "list":
      if (effect.kind === "list") listed(draft, effect.asked, outcome.runs);
      return;
    case "card":
      if (effect.kind === "card") {
        const record = runOf(draft, effect.dispatch);
        if (!draft.thread.places.includes(outcome.place))
          draft.thread.places = [...draft.thread.places, outcome.place];
        if (record)
          updateRun(draft, effect.dispatch, { cards: { ...record.cards, [outcome.place]: outcome.message } });
        // The card is posted, even if a newer view of it is still to be sent.
        if (newer) release(draft, effect.id);
      }
      return;
    case "read":
      if (effect.kind === "read") addContext(draft, effect.dispatch, outcome.messages, outcome.omitted);
      return;
    case "permission":
      if (effect.kind === "permission") permissionKnown(draft, effect.person, outcome.permission);
      return;
    case "hand-over":
      if (effect.kind === "hand-over" && !outcome.taken) notTaken(draft, effect.event);
      return;
    case "cancel":
      if (effect.kind === "cancel") updateRun(draft, effect.dispatch, { delay: null });
      return;
    case "reply":
    case "tell":
    case "react":
    case "label":
      return;
    default:
      return outcome satisfies never;
  }
}

/** Frees the effects that wait for this one. */
function release(draft: Draft, id: string): void {
  draft.thread.effects = draft.thread.effects.map((effect) => {
    if (effect.after !== id) return effect;
    const { after: _, ...free } = effect;
    return free;
  });
}

/** The effect, already dropped, will not happen: the people who wait for it are told (promise 5). */
function givenUp(draft: Draft, effect: Effect, fault: Fault): void {
  const { reason, link } = fault;
  const fail = (event: PersonEvent, what: Parameters<typeof givenUpView>[0]): void =>
    tell(draft, event, givenUpView(what, reason, link));
  switch (effect.kind) {
    case "create": {
      const record = runOf(draft, effect.dispatch);
      if (record) runNotStarted(draft, record, reason, link);
      return;
    }
    case "follow-up":
      followUpLost(draft, effect, reason, link);
      return;
    case "cancel":
      updateRun(draft, effect.dispatch, { cancelling: false, delay: null });
      fail(effect.asked, effect.kind);
      return;
    case "fetch":
      if (fault.code === takenCode) tell(draft, effect.asked, alreadyFollowedView(effect.runId));
      else fail(effect.asked, effect.kind);
      return;
    case "list":
      fail(effect.asked, effect.kind);
      return;
    case "answer":
      tellEnd(draft, effect, undefined);
      return;
    case "card": {
      const record = runOf(draft, effect.dispatch);
      if (record === undefined) return;
      const awaited = draft.thread.effects.some(
        ({ kind, after }) => after === effect.id && (kind === "create" || kind === "read"),
      );
      const placed = draft.thread.places.includes(placeAt(effect.at)) && !awaited;
      // Without a card the run has no place to be told in, so none is made.
      if (!placed && record.runId === null) runNotStarted(draft, record, reason, link);
      else if (!placed && record.request === null) notFollowed(draft, record, reason);
      return;
    }
    case "read":
      addContext(draft, effect.dispatch, [], 1);
      return;
    case "permission":
      permissionUnknown(draft, effect.person, reason);
      return;
    case "hand-over":
      fail(effect.event, effect.kind);
      return;
    case "reply": {
      const record = effect.dispatch === undefined ? undefined : runOf(draft, effect.dispatch);
      if (record) tellAsker(draft, record, elsewhereView(effect.view, reason), effect.id);
      return;
    }
    case "tell":
    case "react":
    case "label":
      // The place itself refuses us; only the engine's log can tell.
      return;
    default:
      return effect satisfies never;
  }
}
