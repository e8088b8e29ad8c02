/** What the outcome of an effect means. */

import type { Effect } from "#core/effect.ts";
import type { PersonEvent } from "#core/event.ts";
import { type Done, type Fault, type Outcome, takenCode } from "#core/outcome.ts";
import { elsewhereView, givenUpView, noteView } from "#core/words/views.ts";
import { attachedRun, followed, listed, notTaken } from "./command.ts";
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

/** Longest wait between two tries. */
const longestWaitMs = 5 * 60_000;
const fewestTries = 10;
/** What is read is waited for: after so many tries, and so long, whatever waits goes on without. */
const mostReadTries = 4;
type Reading = Extract<Effect, { kind: "answer" | "read" | "fetch" | "list" }>;
const readForMs: Readonly<Record<Reading["kind"], number>> = {
  // Only a courtesy to the run that follows it.
  read: 0,
  // The API may be starting anew; but a person who hears nothing waits.
  fetch: 30_000,
  list: 30_000,
  // An end without its answer is told once and for all.
  answer: 2 * 60_000,
};
/** One quick failure is a hiccup that nobody needs to hear of. */
const unsaidTries = 1;
const unsaidMs = 10_000;

export function decideOutcome(draft: Draft, effectId: string, outcome: Outcome, random: number): void {
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
 * Giving up is a decision: a refusal is final, a limit never is unless somebody waits for what is only a
 * courtesy, the rest is tried for a day (promise 7).
 */
function triedAgain(draft: Draft, effect: Effect, fault: Fault): boolean {
  if (!fault.retryable) return false;
  const ageMs = draft.nowMs - Date.parse(effect.since);
  if (fault.limited === true && (effect.kind === "answer" || !isReading(effect))) return true;
  if (isReading(effect)) {
    return effect.tries + 1 < mostReadTries || ageMs < readForMs[effect.kind];
  }
  // However long the bot was down, a hiccup at its return is none of the effect's failures.
  if (effect.tries + 1 < fewestTries) return true;
  return ageMs < draft.rules.retryForMs;
}

function tryLater(draft: Draft, effect: Effect, fault: Fault, random: number): void {
  const tries = effect.tries + 1;
  const growingMs = Math.min(longestWaitMs, 1_000 * 2 ** (tries - 1)) * (0.5 + random / 2);
  // Whoever waits for what is read hears how it went when its time is over, not a long wait later.
  const leftMs = isReading(effect) ? Date.parse(effect.since) + readForMs[effect.kind] - draft.nowMs : 0;
  const backoffMs = leftMs > 0 ? Math.min(growingMs, leftMs) : growingMs;
  const waitMs = Math.max(backoffMs, (fault.retryAfterMs ?? 0) * (1 + random / 10));
  replaceEffect(draft, {
    ...effect,
    tries,
    notBefore: new Date(draft.nowMs + waitMs).toISOString(),
    uncertain: effect.uncertain === true || fault.certainty === "unknown",
  });
  const isSaid = tries > unsaidTries || draft.nowMs - Date.parse(effect.since) >= unsaidMs;
  if (isAskedFor(effect) && isSaid) sayThatItWaits(draft, effect, fault.reason);
}

/** What people asked the API for and wait for: their card says so when that takes long (promise 5). */
type AskedFor = Extract<Effect, { kind: "create" | "follow-up" | "cancel" }>;
const isAskedFor = (effect: Effect): effect is AskedFor =>
  effect.kind === "create" || effect.kind === "follow-up" || effect.kind === "cancel";

const waitingFor: Readonly<Record<AskedFor["kind"], string>> = {
  create: "",
  "follow-up": "a message has not reached the agent yet. ",
  cancel: "the run could not be cancelled yet. ",
};

/** Once: what goes wrong at each further try is no news. */
function sayThatItWaits(draft: Draft, { kind, dispatch }: AskedFor, reason: string): void {
  if (runOf(draft, dispatch)?.delay !== null) return;
  updateRun(draft, dispatch, { delay: `${waitingFor[kind]}${reason}` });
}

function done(draft: Draft, effect: Effect, outcome: Done): void {
  // A newer view was decided while the older one was sent: it is still to be sent.
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
        // The effect may have waited in the scope's lane with others that meant the place it made.
        releaseAfter(draft, effect.id, newer);
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

/** A posted card releases what waited for it, even if a newer view of it is still to be sent. */
function releaseAfter(draft: Draft, id: string, stillPending: boolean): void {
  if (!stillPending) return;
  draft.thread.effects = draft.thread.effects.map((effect) => {
    if (effect.after !== id) return effect;
    const { after: _, ...free } = effect;
    return free;
  });
}

/** The effect, already taken out, will not happen: whoever counts on it hears of it (promise 5). */
function givenUp(draft: Draft, effect: Effect, fault: Fault): void {
  const { reason, link } = fault;
  const fail = (event: PersonEvent, what: string): void =>
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
      fail(effect.asked, "The run could not be cancelled");
      return;
    case "fetch":
      if (fault.code === takenCode) tell(draft, effect.asked, followed(effect.runId));
      else fail(effect.asked, "The run could not be read");
      return;
    case "list":
      fail(effect.asked, "The runs could not be listed");
      return;
    case "answer":
      tellEnd(draft, effect, undefined);
      return;
    case "card": {
      const record = runOf(draft, effect.dispatch);
      if (record === undefined) return;
      const unposted = effect.message === undefined && record.subject?.locked === true;
      const placed = draft.thread.places.includes(effect.at) && !unposted;
      // Without a card the run would have no place to be told in: none is made.
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
      tell(draft, effect.event, noteView(`That didn't work: ${reason}`, "bad"));
      return;
    case "reply": {
      const record = effect.dispatch === undefined ? undefined : runOf(draft, effect.dispatch);
      if (record) tellAsker(draft, record, elsewhereView(effect.view, reason), effect.id);
      return;
    }
    case "tell":
    case "react":
    case "label":
      // The place itself refuses us; there is nowhere left to say so but the log, where the engine does.
      return;
    default:
      return effect satisfies never;
  }
}
