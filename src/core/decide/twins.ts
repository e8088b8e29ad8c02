/** Watches effects with an uncertain past for an hour, since no settling time is surely long enough. */
import type { Effect, WatchEffect } from "#core/effect.ts";
import type { Done, Outcome } from "#core/outcome.ts";
import { hasFollowUp } from "#core/thread.ts";
import { isPeoples } from "#core/twin.ts";
import { messageTwiceView } from "#core/words/notes.ts";
import { add, type Draft, runOf } from "./draft.ts";
import { runChanged } from "./run.ts";

/** Pauses before the looks; together they last an hour. */
const pausesMs = [0.5, 1, 2, 4, 8, 15, 30].map((minutes) => minutes * 60_000);

/** Returns the fields of a watch that has looked `looks` times, until its next look. */
const pause = (draft: Draft, looks: number) => {
  const waitMs = pausesMs[looks] ?? 0;
  return { looks, waitMs, notBefore: new Date(draft.nowMs + waitMs).toISOString() };
};

/** Adds the watch for a twin of the effect, whose last try had this outcome. */
export function watchForTwin(draft: Draft, effect: Effect, outcome: Outcome): void {
  const { id, since } = effect;
  const first = pause(draft, 0);
  switch (effect.kind) {
    case "create":
      add(draft, effect.dispatch, { kind: "twin-runs", dispatch: effect.dispatch, ...first });
      return;
    case "follow-up": {
      const { dispatch, from } = effect;
      add(draft, id, { kind: "twin-messages", dispatch, of: id, from, ...first });
      return;
    }
    case "card":
    case "tell":
    case "reply": {
      // An edit has no twin.
      if (effect.kind === "card" && effect.message !== undefined) return;
      if (!outcome.ok || !("message" in outcome) || outcome.message === undefined) return;
      const { message } = outcome;
      add(draft, id, { kind: "twin-posts", at: effect.at, of: id, postedSince: since, message, ...first });
      return;
    }
    default:
      return;
  }
}

/**
 * Decides the result of a look and when to look again; null: this look failed for good. The effect itself is dropped
 * already.
 */
export function lookedForTwin(draft: Draft, effect: WatchEffect, outcome: Done | null): void {
  if (effect.kind === "twin-messages" && outcome?.kind === "twin-messages" && outcome.times > 1) {
    const { place, by } = effect.from;
    add(draft, effect.id, { kind: "tell", at: place, person: by, view: messageTwiceView });
    return;
  }
  const { notBefore: _, waitMs: __, ageMs: ___, ...rest } = effect;
  let next: WatchEffect = { ...rest, tries: 0, uncertain: false };
  const found = outcome?.kind === "twin-runs" ? outcome : null;
  const record = "dispatch" in effect ? runOf(draft, effect.dispatch) : undefined;
  // People may have steered the record's run meanwhile.
  const isFree = record !== undefined && !isPeoples(record) && !hasFollowUp(draft.thread, record.dispatch);
  if (found !== null && found.kept !== null && isFree) {
    // The next look, at once, ends the other run, whose end is then not taken for the dispatch's.
    runChanged(draft, { ...record, run: null, passed: [] }, found.kept);
  } else {
    if (effect.looks + 1 >= pausesMs.length) return;
    next = { ...next, ...pause(draft, effect.looks + 1) };
  }
  if (next.kind === "twin-runs") next = { ...next, found: [...(next.found ?? []), ...(found?.ended ?? [])] };
  draft.thread.effects = [...draft.thread.effects, next];
}
