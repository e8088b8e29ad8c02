/** Decides the outcomes of effects. */
import { backoffMs } from "#base/backoff.ts";
import { type Effect, isWatch } from "#core/effect.ts";
import type { OutcomeEvent, PersonEvent } from "#core/event.ts";
import { type Done, type Fault, takenCode } from "#core/outcome.ts";
import { placeAt } from "#core/place.ts";
import type { RunRecord } from "#core/thread.ts";
import { delayOf } from "#core/words/card.ts";
import { elsewhereView } from "#core/words/end.ts";
import { alreadyFollowedView, givenUpView } from "#core/words/notes.ts";
import { attachedRun, handedOver, listed } from "./command.ts";
import { addContext } from "./dispatch.ts";
import { type Draft, drop, replaceEffect, runOf, tell, updateRun } from "./draft.ts";
import { drain, permissionKnown, permissionUnknown } from "./person.ts";
import {
  followUpLost,
  followUpTaken,
  followUpUnsure,
  notFollowed,
  runCreated,
  runNotStarted,
  tellAsker,
  tellEnd,
} from "./run.ts";
import { lookedForTwin, watchForTwin } from "./twins.ts";

const firstWaitMs = 1_000;
const longestWaitMs = 5 * 60_000;
const fewestTries = 10;
/** Reads and hand-overs, which change nothing outside, give up after these limits; dependents continue without. */
const mostReadTries = 4;
type Reading = Extract<Effect, { kind: "answer" | "read" | "fetch" | "list" | "hand-over" }>;
const readForMs: Readonly<Record<Reading["kind"], number>> = {
  // The run waits for it.
  read: 0,
  // The API may be restarting, but a person is waiting.
  fetch: 30_000,
  list: 30_000,
  "hand-over": 30_000,
  // An end reported without its answer is never reported with it.
  answer: 2 * 60_000,
};
/** A try takes no longer than this; the clock may have been set meanwhile. */
const longestTryMs = 5 * 60_000;
/** The card shows a delay only after more failures than this, or this time. */
const quietTries = 1;
const quietMs = 10_000;

/** Decides the outcome of a pending effect. */
export function decideOutcome(draft: Draft, event: OutcomeEvent): void {
  const { outcome } = event;
  const effect = draft.thread.effects.find((pending) => pending.id === event.effect);
  if (effect === undefined) return;
  if (effect.kind === "follow-up" && !outcome.ok && outcome.fault.certainty === "unknown") {
    // After a crash the first search shows that an earlier try may have succeeded.
    if (!outcome.fault.searching || !effect.uncertain) followUpUnsure(draft, effect);
  }
  if (!outcome.ok && triedAgain(draft, effect, outcome.fault)) {
    return tryLater(draft, effect, outcome.fault, event.random);
  }
  const isUnknown = !outcome.ok && outcome.fault.certainty === "unknown";
  if (event.uncertain || isUnknown) watchForTwin(draft, effect, outcome);
  if (outcome.ok) done(draft, effect, outcome);
  else {
    drop(draft, (pending) => pending.id === effect.id);
    givenUp(draft, effect, outcome.fault);
  }
  drain(draft);
}

/**
 * Returns for how long the effect has been tried, in milliseconds. Each try adds its own time and the wait before
 * it, as far as these can be, so that an effect does not grow old by a step of the clock, nor while the bot is down
 * or the effect is held.
 */
function ageOf(draft: Draft, { since, notBefore, waitMs = 0, ageMs = 0 }: Effect): number {
  const lastMs = notBefore === undefined ? Date.parse(since) : Date.parse(notBefore) - waitMs;
  return ageMs + Math.min(Math.max(draft.nowMs - lastMs, 0), waitMs + longestTryMs);
}

const isReading = (effect: Effect): effect is Reading => effect.kind in readForMs;

/**
 * Returns whether to retry the effect: never after a final refusal; always after a rate limit (promise 7), except
 * for reads, of which only answers wait it out; otherwise for `retryForMs`.
 */
function triedAgain(draft: Draft, effect: Effect, fault: Fault): boolean {
  const isWrite = !isReading(effect) && !isWatch(effect);
  // What may have happened is first searched for.
  if (isWrite && fault.certainty === "unknown" && effect.uncertain !== true) return true;
  if (!fault.retryable) return false;
  const ageMs = ageOf(draft, effect);
  if (fault.limited && (effect.kind === "answer" || !isReading(effect))) return true;
  // The next look comes soon enough.
  if (isWatch(effect)) return effect.tries + 1 < mostReadTries;
  if (isReading(effect)) {
    return effect.tries + 1 < mostReadTries || ageMs < readForMs[effect.kind];
  }
  // The bot may have been down most of the time.
  if (effect.tries + 1 < fewestTries) return true;
  return ageMs < draft.rules.retryForMs;
}

function tryLater(draft: Draft, effect: Effect, fault: Fault, random: number): void {
  const tries = effect.tries + 1;
  const ageMs = ageOf(draft, effect);
  const askedMs = fault.retryAfterMs ?? 0;
  const isSettling = fault.searching === true && askedMs > 0;
  const searches = (effect.searches ?? 0) + (isSettling ? 1 : 0);
  // Searching is no failure: a write that is cut off after many searches is looked for as soon as at first.
  const growingMs = backoffMs(Math.max(tries - searches, 1), firstWaitMs, longestWaitMs, random);
  // The last try of a read comes at its time limit, not a long wait later.
  const leftMs = isReading(effect) ? readForMs[effect.kind] - ageMs : 0;
  const pauseMs = leftMs > 0 ? Math.min(growingMs, leftMs) : growingMs;
  const isNewDoubt = effect.uncertain !== true && fault.certainty === "unknown";
  const spreadMs = askedMs * (1 + random / 10);
  const waitMs = isSettling ? spreadMs : Math.max(pauseMs, spreadMs);
  replaceEffect(draft, {
    ...effect,
    tries,
    ...(searches > 0 ? { searches } : {}),
    notBefore: new Date(draft.nowMs + waitMs).toISOString(),
    waitMs,
    // How long a follow-up is looked for counts from the try that may have arrived.
    ageMs: effect.kind === "follow-up" && isNewDoubt ? 0 : ageMs,
    uncertain: effect.uncertain === true || fault.certainty === "unknown",
  });
  // A person who waits sees at once why nothing is repeated.
  const isShown = fault.searching || tries > quietTries || ageMs + waitMs >= quietMs;
  if (!isShown) return;
  // The card of a delayed run says so (promise 5), with the first reason only.
  if (effect.kind !== "create" && effect.kind !== "follow-up" && effect.kind !== "cancel") return;
  const { kind, dispatch } = effect;
  if (runOf(draft, dispatch)?.delay === null) {
    updateRun(draft, dispatch, { delay: delayOf(kind, fault.reason) });
  }
}

/** Returns the record of the effect's run. */
const recordOf = (draft: Draft, effect: Effect): RunRecord | undefined =>
  "dispatch" in effect && effect.dispatch !== undefined ? runOf(draft, effect.dispatch) : undefined;

function done(draft: Draft, effect: Effect, outcome: Done): void {
  const record = recordOf(draft, effect);
  // A newer view, decided while this one was being sent, is still pending.
  const newer = "revision" in effect && "revision" in outcome && outcome.revision < effect.revision;
  if (newer) {
    const { notBefore: _, waitMs: __, ageMs: ___, searches: ____, ...rest } = effect;
    const sent =
      rest.kind === "card" && outcome.kind === "card"
        ? { ...rest, at: outcome.place, to: outcome.place, message: outcome.message }
        : rest;
    replaceEffect(draft, { ...sent, tries: 0, uncertain: false });
  } else drop(draft, (pending) => pending.id === effect.id);

  switch (outcome.kind) {
    case "create":
      if (record) runCreated(draft, record, outcome.runId, outcome.state);
      return;
    case "follow-up":
      if (effect.kind === "follow-up") followUpTaken(draft, effect);
      return;
    case "fetch":
      if (effect.kind === "fetch") attachedRun(draft, effect, outcome.run);
      return;
    case "answer":
      if (effect.kind === "answer") tellEnd(draft, effect, outcome);
      return;
    case "list":
      if (effect.kind === "list") listed(draft, effect.asked, outcome.runs);
      return;
    case "card":
      draft.thread.places = [...new Set([...draft.thread.places, outcome.place])];
      if (record) {
        updateRun(draft, record.dispatch, { cards: { ...record.cards, [outcome.place]: outcome.message } });
      }
      // The card is posted, even if a newer view of it is pending.
      if (newer) release(draft, effect.id);
      return;
    case "read":
      if (effect.kind === "read") addContext(draft, effect.dispatch, outcome.messages, outcome.omitted);
      return;
    case "permission":
      if (effect.kind === "permission") permissionKnown(draft, effect.person, outcome.permission);
      return;
    case "hand-over":
      if (effect.kind === "hand-over") handedOver(draft, effect.event, outcome.taken);
      return;
    case "twin-runs":
    case "twin-messages":
    case "twin-posts":
      if (isWatch(effect)) lookedForTwin(draft, effect, outcome);
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

/** Releases the effects that wait for this one. */
function release(draft: Draft, id: string): void {
  draft.thread.effects = draft.thread.effects.map((effect) => {
    if (effect.after !== id) return effect;
    const { after: _, ...free } = effect;
    return free;
  });
}

/** Decides the final failure of an effect, already dropped: the people concerned get a message (promise 5). */
function givenUp(draft: Draft, effect: Effect, fault: Fault): void {
  const { reason, link } = fault;
  const record = recordOf(draft, effect);
  const fail = (event: PersonEvent, what: Parameters<typeof givenUpView>[0]): void =>
    tell(draft, event, givenUpView(what, reason, link));
  switch (effect.kind) {
    case "create":
      if (record) runNotStarted(draft, record, reason, link);
      return;
    case "follow-up":
      followUpLost(draft, effect, fault);
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
      if (record === undefined) return;
      const awaited = draft.thread.effects.some(
        ({ kind, after }) => after === effect.id && (kind === "create" || kind === "read"),
      );
      const placed = draft.thread.places.includes(placeAt(effect.at)) && !awaited;
      // Without a card the run has no place for its report, so it isn't started.
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
    case "reply":
      if (record) tellAsker(draft, record, elsewhereView(effect.view, reason), effect.id);
      return;
    case "twin-runs":
    case "twin-messages":
    case "twin-posts":
      lookedForTwin(draft, effect, null);
      return;
    case "tell":
    case "react":
    case "label":
      // The place itself refuses messages; the engine has logged the failure.
      return;
    default:
      return effect satisfies never;
  }
}
