import type { Event } from "#core/event.ts";
import type { Rules } from "#core/policy.ts";
import type { Thread } from "#core/thread.ts";
import { type Draft, newThread } from "./draft.ts";
import { decideOutcome } from "./outcome.ts";
import { concern, takeIn } from "./person.ts";
import { asKnown, withAlias } from "./places.ts";
import { runChanged } from "./run.ts";

/**
 * `keep`: save the thread, which has the new effects (it is the same object if nothing changed). `ignore`: the
 * event is not for the bot. `again`: the event's thread is not saved yet, so the event must be redelivered.
 */
export type Decision =
  | { readonly kind: "keep"; readonly thread: Thread }
  | { readonly kind: "ignore" }
  | { readonly kind: "again" };

/** Decides an event of the thread (null if there is none yet). `now` is in milliseconds since the epoch. */
export type Decide = (thread: Thread | null, event: Event, now: number) => Decision;

/** Creates the pure function that makes all decisions, under these rules. */
export function createDecide(rules: Rules): Decide {
  return (thread, event, now) => {
    switch (event.kind) {
      case "run": {
        const record = thread?.runs.find((known) => known.runId === event.run.run_id);
        if (thread === null || record === undefined) return { kind: "ignore" };
        const isSettled = event.followUps === (record.followUps ?? 0);
        const { run, isLasting } = event;
        return change(thread, rules, now, (draft) =>
          runChanged(draft, record, run, { isSettled, isLasting }),
        );
      }
      case "outcome":
        if (thread === null) return { kind: "ignore" };
        return change(thread, rules, now, (draft) => decideOutcome(draft, event));
      case "command":
      case "reply":
      case "button":
      case "label": {
        const known = thread && withAlias(thread, event);
        if (known?.seen.includes(event.id)) return { kind: "keep", thread: known };
        const here = asKnown(known, event);
        const concerned = concern(known, here, rules);
        if (concerned === "again") return { kind: "again" };
        if (concerned === "not-ours") return { kind: "ignore" };
        return change(known ?? newThread(event), rules, now, (draft) => takeIn(draft, here));
      }
      case "moved":
        return thread === null ? { kind: "ignore" } : { kind: "keep", thread: withAlias(thread, event) };
      default:
        return event satisfies never;
    }
  };
}

function change(thread: Thread, rules: Rules, nowMs: number, by: (draft: Draft) => void): Decision {
  const now = new Date(nowMs).toISOString();
  const draft: Draft = { thread: { ...thread, changedAt: now }, rules, nowMs, now };
  by(draft);
  return { kind: "keep", thread: isSame(draft.thread, thread) ? thread : draft.thread };
}

/** Ignores `changedAt`. Most fields are the same object, which needs no comparison. */
const isSame = (one: Thread, other: Thread): boolean =>
  Object.entries(one).every(([field, value]) => {
    const before: unknown = Reflect.get(other, field);
    return field === "changedAt" || value === before || JSON.stringify(value) === JSON.stringify(before);
  });
