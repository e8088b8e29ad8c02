import type { Decide, Decision } from "#core/decide/decide.ts";
import { type Event, refOf } from "#core/event.ts";
import type { Ref } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import type { Clock, Store } from "#ports.ts";

export interface Saved {
  /** `unknown`: the ref leads to no thread, and none was to be begun. */
  readonly answer: "saved" | "ignored" | "again" | "unknown";
  /** The saved thread; null: there is none. */
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

export interface Saving {
  /** Ref of the thread, if it is not the event's own. */
  readonly ref?: Ref;
  /** Begin no thread. */
  readonly onlyKnown?: boolean;
}

/** Decides the event and resolves when its thread is durable. Rejects like the store; then nothing has changed. */
export type Save = (event: Event, saving?: Saving) => Promise<Saved>;

/**
 * `onSaved` is called with each thread as saved and as it was before the event (null: it is new), never with
 * an older version after a newer one.
 */
export function createSave(options: {
  readonly store: Store;
  readonly decide: Decide;
  readonly clock: Clock;
  readonly onSaved: (thread: Thread, before: Thread | null) => void;
}): Save {
  const { store, decide, clock, onSaved } = options;
  let decisions = 0;
  let underWay = 0;
  // A thread's changes are made in order, but may resolve in another.
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
