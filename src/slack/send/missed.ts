/** Replies that the bot missed, read back from the threads where a run is unfinished. */
import type { WebClient } from "@slack/web-api";
import type { Log } from "#base/log.ts";
import type { PersonEvent, ReplyEvent } from "#core/event.ts";
import type { Place } from "#core/place.ts";
import type { Missed } from "#ports.ts";
import { faultOf } from "#slack/faults.ts";
import { millisecondsOf, readPlace, timestampOf } from "#slack/place.ts";
import { type Self, translateStored } from "#slack/translate.ts";
import { messagePages } from "./message-pages.ts";

/** Pages of one thread that one look reads; the next look continues. */
const mostPages = 20;
/** Threads in one look: Slack allows about fifty such calls a minute, and one to apps outside its Marketplace. */
const mostPlaces = 50;

interface ReadThread {
  readonly replies: readonly ReplyEvent[];
  /** `limited`: Slack refuses more calls for now. `left`: there is more to read. */
  readonly end: "all" | "left" | "limited";
}

/** Options of `createMissed`. */
export interface MissedOptions {
  readonly client: WebClient;
  readonly identity: () => Promise<Self>;
  readonly log: Log;
}

/** Creates `Platform.missed`. The next look starts with the threads that a limit left unread. */
export function createMissed({ client, identity, log }: MissedOptions) {
  /** Threads that are still unread, and from when to read them, in milliseconds since the epoch. */
  let unread: ReadonlyMap<Place, number> = new Map();
  /** From when the last look read each thread; a repeated look starts there too. */
  let last: { readonly since: string; readonly from: ReadonlyMap<Place, number> } | null = null;
  let limitLogged = false;

  async function readThread(self: Self, place: Place, sinceMs: number): Promise<ReadThread> {
    const where = readPlace(place);
    const replies: ReplyEvent[] = [];
    if (where?.threadTs === undefined) return { replies, end: "all" };
    let end: ReadThread["end"] = "left";
    try {
      const bounds = { oldest: timestampOf(sinceMs) };
      for await (const { messages, next } of messagePages(client, where, bounds, mostPages)) {
        for (const message of messages) {
          const reply = translateStored(message, where.channel, self);
          // Slack adds the thread's first message whatever the bounds.
          if (reply !== null && millisecondsOf(reply.message) >= sinceMs) replies.push(reply);
        }
        if (next === null) end = "all";
      }
    } catch (error) {
      const fault = faultOf(error);
      if (fault.limited) return { replies, end: "limited" };
      if (fault.retryable) throw error;
      log.debug("A thread in Slack can't be read", { place, reason: fault.reason });
      end = "all";
    }
    return { replies, end };
  }

  function logLimit(left: number): void {
    if (left > 0 && !limitLogged) {
      log.warn("Slack limits how many threads can be read back; the remaining ones are read later", { left });
    }
    limitLogged = left > 0;
  }

  async function look({ since, places }: Missed): Promise<readonly PersonEvent[]> {
    const self = await identity();
    const sinceMs = Date.parse(since);
    const before = last?.since === since ? last.from : unread;
    const from = new Map(places.map((place) => [place, Math.min(before.get(place) ?? sinceMs, sinceMs)]));
    const byAge = (one: Place, other: Place): number => startedMs(other) - startedMs(one);
    const order = [...from.keys()].sort(
      (one, other) => Number(before.has(other)) - Number(before.has(one)) || byAge(one, other),
    );
    const left = new Map(from);
    const replies: ReplyEvent[] = [];
    for (const place of order.slice(0, mostPlaces)) {
      const read = await readThread(self, place, from.get(place) ?? sinceMs);
      replies.push(...read.replies);
      if (read.end === "limited") break;
      left.delete(place);
      const newest = read.replies.at(-1);
      if (read.end === "left" && newest !== undefined) left.set(place, millisecondsOf(newest.message));
    }
    logLimit(left.size);
    unread = left;
    last = { since, from };
    return replies.toSorted(
      ({ message: one }, { message: other }) =>
        millisecondsOf(one) - millisecondsOf(other) || one.localeCompare(other),
    );
  }

  return (missed: Missed): Promise<readonly PersonEvent[]> =>
    look(missed).catch((error: unknown) => {
      throw new Error(faultOf(error).reason, { cause: error });
    });
}

const startedMs = (place: Place): number => millisecondsOf(readPlace(place)?.threadTs ?? "0.0");
