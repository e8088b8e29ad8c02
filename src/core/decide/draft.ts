/** The draft of a decision: a copy of the thread, and the functions that change it. */
import {
  type CardEffect,
  type Effect,
  idPrefix,
  isWatch,
  type StateLabel,
  toApi,
  toApiRead,
  toEngine,
} from "#core/effect.ts";
import { type PersonEvent, refOf } from "#core/event.ts";
import { type DispatchId, type Place, platformOf, type Scope } from "#core/place.ts";
import type { Rules } from "#core/policy.ts";
import { isEnded } from "#core/run.ts";
import { currentRun, type RunRecord, type Thread } from "#core/thread.ts";
import type { View } from "#core/view.ts";
import { cardView } from "#core/words/card.ts";

/** A copy of the thread, and the input of the decision. */
export interface Draft {
  thread: { -readonly [K in keyof Thread]: Thread[K] };
  readonly rules: Rules;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** The same, RFC 3339. */
  readonly now: string;
}

/** Returns the empty thread that the event begins. */
export function newThread(event: PersonEvent): Thread {
  return {
    version: 1,
    id: refOf(event),
    scope: event.scope,
    places: event.place === null ? [] : [event.place],
    runs: [],
    decided: 0,
    effects: [],
    waiting: [],
    seen: [],
    said: [],
    muted: false,
    mutedUntil: null,
    changedAt: event.at,
  };
}

type WithoutBookkeeping<E> = E extends Effect ? Omit<E, "id" | "since" | "tries" | "to"> : never;
/** An effect without the fields that `add` fills in. */
export type NewEffect = WithoutBookkeeping<Effect>;

/** Returns the id of the next added effect. `cause` is the id of the event or dispatch that it follows from. */
export const nextId = (draft: Draft, cause: string, kind: Effect["kind"]): string =>
  `${idPrefix(cause, kind)}${draft.thread.decided + 1}`;

/** Adds the effect and returns its id; `cause` as in `nextId`. */
export function add(draft: Draft, cause: string, effect: NewEffect): string {
  const { thread } = draft;
  const id = nextId(draft, cause, effect.kind);
  thread.decided += 1;
  thread.effects = [
    ...thread.effects,
    { ...effect, id, to: destinationOf(effect), since: draft.now, tries: 0 } as Effect,
  ];
  return id;
}

function destinationOf(effect: NewEffect): Effect["to"] {
  // Each watches by itself, so that it holds up nothing.
  if (isWatch(effect)) return `watch ${"of" in effect ? effect.of : effect.dispatch}`;
  if ("at" in effect) {
    // What is held back holds up nothing either.
    if (effect.notBefore !== undefined) return `later ${effect.at}`;
    const isRead = effect.kind === "read" || effect.kind === "permission";
    return isRead ? `read ${effect.at}` : effect.at;
  }
  switch (effect.kind) {
    case "create":
    case "follow-up":
    case "cancel":
      return toApi;
    case "fetch":
    case "answer":
    case "list":
      return toApiRead;
    case "hand-over":
      return toEngine;
    default:
      return effect satisfies never;
  }
}

/** Removes the effects and returns them. */
export function drop(draft: Draft, which: (effect: Effect) => boolean): readonly Effect[] {
  const dropped = draft.thread.effects.filter(which);
  if (dropped.length > 0) draft.thread.effects = draft.thread.effects.filter((effect) => !which(effect));
  return dropped;
}

/** Replaces the effect that has the same id. */
export function replaceEffect(draft: Draft, effect: Effect): void {
  draft.thread.effects = draft.thread.effects.map((other) => (other.id === effect.id ? effect : other));
}

/** Sends the view to the event's author, privately where the platform allows it. */
export function tell(draft: Draft, event: PersonEvent, view: View): void {
  const at = event.place ?? event.scope;
  add(draft, event.id, { kind: "tell", at, person: event.by, view, ...answerViaOf(event) });
}

/** Returns the event's address for a private reply, as a field to spread. */
export const answerViaOf = (event: PersonEvent): { answerVia?: string } =>
  "answerVia" in event && event.answerVia !== undefined ? { answerVia: event.answerVia } : {};

/** Returns true for the first call with this key in the thread, false for all later ones. */
export function once(draft: Draft, key: string): boolean {
  if (draft.thread.said.includes(key)) return false;
  draft.thread.said = [...draft.thread.said, key];
  return true;
}

/** Returns the record of the dispatch's run. */
export const runOf = (draft: Draft, dispatch: DispatchId): RunRecord | undefined =>
  draft.thread.runs.find((record) => record.dispatch === dispatch);

/** Changes the record of a run, and updates its cards and labels. */
export function updateRun(draft: Draft, dispatch: DispatchId, changes: Partial<RunRecord>): void {
  const before = runOf(draft, dispatch);
  if (before === undefined) return;
  const after = { ...before, ...changes };
  draft.thread.runs = draft.thread.runs.map((record) => (record === before ? after : record));
  const view = cardView(after);
  if (JSON.stringify(view) !== JSON.stringify(cardView(before))) refreshCards(draft, after, view);
  if (labelOf(after) !== labelOf(before)) setLabels(draft);
}

/** Replaces pending edits of the card: only the newest is sent (promise 7). */
function refreshCards(draft: Draft, record: RunRecord, view: View): void {
  const pending = draft.thread.effects.filter(
    (effect): effect is CardEffect => effect.kind === "card" && effect.dispatch === record.dispatch,
  );
  const isQuiet = labelOf(record) === "agent:queued" && record.delay === null && !record.cancelling;
  for (const effect of pending) {
    replaceEffect(draft, { ...released(effect, isQuiet), view, revision: effect.revision + 1 });
  }
  for (const [place, message] of Object.entries(record.cards)) {
    if (message === null || pending.some((effect) => effect.at === place)) continue;
    const { dispatch } = record;
    const held = isQuiet ? heldBack(draft, place) : {};
    add(draft, dispatch, { kind: "card", at: place, dispatch, view, revision: 1, message, ...held });
  }
}

/** Returns the fields of an effect that shows no more than that a run waits. */
function heldBack(draft: Draft, place: Place): { notBefore?: string; waitMs?: number } {
  const waitMs = draft.rules.platforms[platformOf(place)]?.holdMs;
  return waitMs === undefined ? {} : { waitMs, notBefore: new Date(draft.nowMs + waitMs).toISOString() };
}

/** Returns the effect without being held back, unless it has still only to show that a run waits. */
function released<E extends Effect>(effect: E, isQuiet: boolean): E {
  if (isQuiet || effect.tries > 0) return effect;
  const { notBefore: _, waitMs: __, ...rest } = effect;
  return rest as E;
}

/** Posts the run's card in a place, or in a scope, where it begins a place; returns the effect's id. */
export function postCard(draft: Draft, record: RunRecord, at: Place | Scope): string {
  const { dispatch } = record;
  return add(draft, dispatch, { kind: "card", at, dispatch, view: cardView(record), revision: 1 });
}

/** Labels the places with the state of the current run. */
export function setLabels(draft: Draft): void {
  const record = currentRun(draft.thread);
  if (record === undefined) return;
  const label = labelOf(record);
  const isQuiet = label === "agent:queued";
  for (const place of draft.thread.places) {
    if (!draft.rules.platforms[platformOf(place)]?.hasStateLabels) continue;
    const pending = draft.thread.effects.find((effect) => effect.kind === "label" && effect.at === place);
    if (pending?.kind === "label") {
      replaceEffect(draft, { ...released(pending, isQuiet), label, revision: pending.revision + 1 });
    } else {
      const held = isQuiet ? heldBack(draft, place) : {};
      add(draft, record.dispatch, { kind: "label", at: place, label, revision: 1, ...held });
    }
  }
}

const labels: Readonly<Record<string, StateLabel>> = {
  QUEUED: "agent:queued",
  PENDING: "agent:queued",
  CLAIMED: "agent:queued",
  BLOCKED: "agent:blocked",
  SUCCEEDED: "agent:done",
  // A cancelled run has no result either; the card says that it was cancelled.
  CANCELLED: "agent:failed",
  FAILED: "agent:failed",
  ERROR: "agent:failed",
};

function labelOf({ failed, run, reopened }: RunRecord): StateLabel {
  if (failed !== null) return "agent:failed";
  if (run === null || (isEnded(run.state) && reopened)) return "agent:queued";
  return labels[run.state] ?? "agent:running";
}
