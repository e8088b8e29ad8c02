import type { Decide, Decision } from "#core/decide/decide.ts";
import { type Event, refOf } from "#core/event.ts";
import type { Ref } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import type { Clock, Store } from "#ports.ts";

export interface Saved {
  /** `unknown`: no thread is found under the ref, and none was to be begun. */
  readonly answer: "saved" | "ignored" | "again" | "unknown";
  /** The thread as it is now; null: there is none. */
  readonly thread: Thread | null;
}

interface Change extends Saved {
  readonly before: Thread | null;
  readonly number: number;
}

export interface Saving {
  /** Where to look for the thread, instead of under the event's own ref. */
  readonly ref?: Ref;
  /** Do nothing if there is no thread. */
  readonly onlyKnown?: boolean;
}

/** Decides the event and resolves when its thread is durable. Rejects as the store does; nothing has changed then. */
export type Save = (event: Event, saving?: Saving) => Promise<Saved>;

/**
 * `onKnown` hears of each thread as it is now and as it was before the event (null: it is new), never of an
 * older one after a newer one.
 */
export function createSave(options: {
  readonly store: Store;
  readonly decide: Decide;
  readonly clock: Clock;
  readonly onKnown: (thread: Thread, before: Thread | null) => void;
}): Save {
  const { store, decide, clock, onKnown } = options;
  let decisions = 0;
  let underWay = 0;
  // A thread's changes happen one after the other, yet may be heard of in another order.
  const newest = new Map<Ref, number>();

  return async (event, { ref = refOf(event), onlyKnown = false } = {}) => {
    underWay += 1;
    try {
      const change = await store.change<Change>(ref, (before) => {
        decisions += 1;
        const number = decisions;
        if (before === null && onlyKnown) {
          return { thread: null, result: { answer: "unknown", thread: null, before, number } };
        }
        const decision = decide(before, event, clock.now());
        const thread = decision.kind === "keep" ? decision.thread : before;
        return { thread, result: { answer: answerOf(decision), thread, before, number } };
      });
      const { thread, before, number } = change;
      if (thread !== null && number > (newest.get(thread.id) ?? 0)) {
        newest.set(thread.id, number);
        onKnown(thread, before);
      }
      return change;
    } finally {
      underWay -= 1;
      if (underWay === 0) newest.clear();
    }
  };
}

function answerOf(decision: Decision): Saved["answer"] {
  switch (decision.kind) {
    case "keep":
      return "saved";
    case "ignore":
      return "ignored";
    case "again":
      return "again";
    default:
      return decision satisfies never;
  }
}
