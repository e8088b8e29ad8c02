/** Replies that may have overtaken the request which makes them follow-ups. */
import type { PlatformEvent, ReplyEvent } from "#core/event.ts";
import type { EventId, Ref } from "#core/place.ts";
import { refsOf, type Thread } from "#core/thread.ts";
import type { Timers } from "#engine/base/timers.ts";
import type { Clock } from "#ports.ts";

/**
 * A request comes at most this much later: Slack repeats a delivery until about six minutes after the first, and
 * missed events are searched for every five. https://docs.slack.dev/apis/events-api#error-handling
 */
const keptMs = 10 * 60_000;
/** Twice as many as Slack sends an app in that time. https://docs.slack.dev/apis/events-api#rate-limiting */
const mostKept = 10_000;
/** In one place, so that one conversation takes nothing from the others. */
const mostInPlace = 50;
/** All kept replies as JSON, in UTF-16 units. */
const mostSize = 8 * 1024 * 1024;

/** Returns the event if it was ignored, but a request that comes later may make it a follow-up. */
export function earlyReply(event: PlatformEvent): ReplyEvent | null {
  // Nothing is before the first message of a place.
  return event.kind === "reply" && !event.mention && !event.first && !event.by.bot ? event : null;
}

/** The ignored replies of the last minutes. */
export interface EarlyReplies {
  /** Keeps a reply that was ignored in this thread (null: there was none); not longer if it is kept already. */
  keep(reply: ReplyEvent, thread: Thread | null): void;
  drop(reply: ReplyEvent): void;
  has(reply: ReplyEvent): boolean;
  /** Returns the replies in the thread's places to decide again, in the order of their times. */
  due(thread: Thread): readonly ReplyEvent[];
}

interface Kept {
  readonly reply: ReplyEvent;
  readonly size: number;
  readonly untilMs: number;
  /** State of the thread in which it was last decided, see `stateOf`. */
  state: string;
}

/** Creates an empty memory, bounded in number, size and time. */
export function createEarlyReplies({ clock, timers }: { clock: Clock; timers: Timers }): EarlyReplies {
  /** Oldest first. */
  const all = new Map<EventId, Kept>();
  const byPlace = new Map<Ref, Set<Kept>>();
  let size = 0;
  let isTimed = false;

  function remove(kept: Kept): void {
    const { id, place } = kept.reply;
    all.delete(id);
    size -= kept.size;
    const others = byPlace.get(place);
    others?.delete(kept);
    if (others?.size === 0) byPlace.delete(place);
  }

  function removeOld(): void {
    for (const kept of all.values()) {
      const isOld = kept.untilMs <= clock.elapsed();
      if (!isOld && all.size <= mostKept && size <= mostSize) break;
      remove(kept);
    }
    const [oldest] = all.values();
    if (oldest === undefined || isTimed) return;
    isTimed = true;
    timers.after(Math.max(oldest.untilMs - clock.elapsed(), 1), () => {
      isTimed = false;
      removeOld();
    });
  }

  return {
    keep(wholeReply, thread) {
      // The text is only for requests.
      const { subject: _, ...reply } = wholeReply;
      const known = all.get(reply.id);
      if (known !== undefined) {
        known.state = stateOf(thread);
        return;
      }
      const kept = {
        reply,
        size: JSON.stringify(reply).length,
        untilMs: clock.elapsed() + keptMs,
        state: stateOf(thread),
      };
      all.set(reply.id, kept);
      size += kept.size;
      const here = byPlace.get(reply.place) ?? new Set();
      byPlace.set(reply.place, here.add(kept));
      const [first] = here;
      if (first !== undefined && here.size > mostInPlace) remove(first);
      removeOld();
    },
    drop({ id }) {
      const kept = all.get(id);
      if (kept !== undefined) remove(kept);
    },
    has: ({ id }) => all.has(id),
    due(thread) {
      const state = stateOf(thread);
      const changed = refsOf(thread)
        .flatMap((place) => [...(byPlace.get(place) ?? [])])
        .filter((kept) => kept.state !== state);
      for (const kept of changed) kept.state = state;
      return changed.map(({ reply }) => reply).sort(byTime);
    },
  };
}

/** Changes whenever a reply to the thread may be decided differently. */
const stateOf = (thread: Thread | null): string =>
  thread === null
    ? ""
    : [thread.places, thread.runs, thread.waiting].map(({ length }) => length).join(" ") +
      ` ${thread.muted} ${thread.mutedUntil}`;

/** GitHub's times are whole seconds; within one, ids of comments grow. */
const byTime = (one: ReplyEvent, other: ReplyEvent): number =>
  Date.parse(one.at) - Date.parse(other.at) || one.id.localeCompare(other.id, "en", { numeric: true });
