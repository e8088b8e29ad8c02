import type { Decide, Decision } from "#core/decide/decide.ts";
import { isFree } from "#core/decide/places.ts";
import { type Event, type PlatformEvent, refOf } from "#core/event.ts";
import type { Ref } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import type { Clock, Store } from "#ports.ts";

/** The result of saving an event. */
export interface Saved {
  /** `unknown`: no thread has the ref, and `onlyKnown` was set. */
  readonly answer: "saved" | "ignored" | "again" | "unknown";
  /** The thread as saved; null if there is none. */
  readonly thread: Thread | null;
}

const answers = { keep: "saved", ignore: "ignored", again: "again" } as const satisfies Record<
  Decision["kind"],
  Saved["answer"]
>;

interface Change extends Saved {
  readonly before: Thread | null;
  readonly number: number;
}

/** Options of `Save`. */
export interface Saving {
  /** Ref of the thread; the event's own by default. */
  readonly ref?: Ref;
  /** Don't begin a thread. */
  readonly onlyKnown?: boolean;
}

/** Decides the event and resolves when its thread is durable. Rejects like the store; then nothing has changed. */
export type Save = (event: Event, saving?: Saving) => Promise<Saved>;

/** Creates `Save`. `onSaved` gets each saved thread, never an older after a newer one; `before` is null if new. */
export function createSave(options: {
  readonly store: Store;
  readonly decide: Decide;
  readonly clock: Clock;
  readonly onSaved: (thread: Thread, before: Thread | null) => void;
}): Save {
  const { store, decide, clock, onSaved } = options;
  let decisions = 0;
  let underWay = 0;
  /** Number of each thread's latest decision: changes are made in order, but may resolve out of order. */
  const newest = new Map<Ref, number>();

  /** Returns the ref, if it has a thread, or else the first of the former places that has one. */
  async function leadingTo(ref: Ref, event: PlatformEvent): Promise<Ref> {
    if ((await store.find(ref)) !== null) return ref;
    for (const place of event.formerPlaces ?? []) {
      const thread = await store.find(place);
      if (thread !== null && isFree(thread, place, event)) return place;
    }
    return ref;
  }

  return async (event, { ref: given = refOf(event), onlyKnown = false } = {}) => {
    underWay += 1;
    try {
      // Without a pause, changes are made in the order of the calls.
      const ref = "formerPlaces" in event ? await leadingTo(given, event) : given;
      const change = await store.change<Change>(ref, (before) => {
        decisions += 1;
        const number = decisions;
        if (before === null && onlyKnown) {
          return { thread: null, result: { answer: "unknown", thread: null, before, number } };
        }
        const decision = decide(before, event, clock.now());
        const thread = decision.kind === "keep" ? decision.thread : before;
        return { thread, result: { answer: answers[decision.kind], thread, before, number } };
      });
      const { thread, before, number } = change;
      if (thread !== null && number > (newest.get(thread.id) ?? 0)) {
        newest.set(thread.id, number);
        onSaved(thread, before);
      }
      return change;
    } finally {
      underWay -= 1;
      if (underWay === 0) newest.clear();
    }
  };
}
