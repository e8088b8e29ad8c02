import type { Event } from "#core/event.ts";
import type { Rules } from "#core/policy.ts";
import type { Thread } from "#core/thread.ts";
import { type Draft, draftOf, newThread } from "./draft.ts";
import { decideOutcome } from "./outcome.ts";
import { concern, takeIn } from "./person.ts";
import { runChanged } from "./run.ts";

/**
 * `keep`: the thread as it should be, with its new effects (the same object if nothing changes). `ignore`: the
 * event is not for us. `again`: what it belongs to is not saved yet; it must be delivered again.
 */
export type Decision =
  | { readonly kind: "keep"; readonly thread: Thread }
  | { readonly kind: "ignore" }
  | { readonly kind: "again" };

/** `now` in milliseconds since the epoch. */
export type Decide = (thread: Thread | null, event: Event, now: number) => Decision;

/** Makes decisions under these rules: a pure function, and the only place where anything is decided. */
export function createDecide(rules: Rules): Decide {
  return (thread, event, now) => {
    switch (event.kind) {
      case "run": {
        const record = thread?.runs.find((known) => known.runId === event.run.run_id);
        if (thread === null || record === undefined) return { kind: "ignore" };
        const isSettled = event.followUps === (record.followUps ?? 0);
        return change(thread, rules, now, (draft) => runChanged(draft, record, event.run, isSettled));
      }
      case "outcome":
        if (thread === null) return { kind: "ignore" };
        return change(thread, rules, now, (draft) =>
          decideOutcome(draft, event.effect, event.outcome, event.random),
        );
      case "command":
      case "reply":
      case "button":
      case "label": {
        if (thread?.seen.includes(event.id)) return { kind: "keep", thread };
        const concerned = concern(thread, event, rules);
        if (concerned === "again") return { kind: "again" };
        if (concerned === "not-ours") return { kind: "ignore" };
        return change(thread ?? newThread(event), rules, now, (draft) => takeIn(draft, event));
      }
      default:
        return event satisfies never;
    }
  };
}

function change(thread: Thread, rules: Rules, now: number, by: (draft: Draft) => void): Decision {
  const draft = draftOf(thread, rules, now);
  by(draft);
  const same = isSame(draft.thread, thread);
  return { kind: "keep", thread: same ? thread : draft.thread };
}

/** Whether nothing but the time of the change differs. Most fields are the same object and not compared. */
const isSame = (one: Thread, other: Thread): boolean =>
  Object.entries(one).every(([field, value]) => {
    const before: unknown = Reflect.get(other, field);
    return field === "changedAt" || value === before || JSON.stringify(value) === JSON.stringify(before);
  });
