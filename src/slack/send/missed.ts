/** Replies that Slack told in vain, read back from the threads where a run is unfinished. */
import type { WebClient } from "@slack/web-api";
import type { Log } from "#base/log.ts";
import type { PersonEvent, ReplyEvent } from "#core/event.ts";
import type { Place } from "#core/place.ts";
import type { Missed } from "#ports.ts";
import { faultOf } from "#slack/faults.ts";
import { rawPage } from "#slack/payloads.ts";
import { millisecondsOf, readPlace, timestampOf } from "#slack/place.ts";
import { type Self, translateStored } from "#slack/translate.ts";

const pageSize = 200;
/** Of one thread; a longer one is read on by the next look. */
const mostPages = 20;
/** Slack grants some fifty such calls a minute, and apps outside its Marketplace one. */
const mostPlaces = 50;

/** Codes under which no thread at all can be read, until somebody renews the token. */
const tokenTroubles: ReadonlySet<string> = new Set([
  "not_authed",
  "invalid_auth",
  "account_inactive",
  "token_revoked",
  "token_expired",
]);

interface ReadThread {
  readonly replies: readonly ReplyEvent[];
  /** `limited`: Slack wants to be asked no more for now. `left`: there is more to read. */
  readonly end: "all" | "left" | "limited";
}

export interface MissedOptions {
  readonly client: WebClient;
  readonly identity: () => Promise<Self>;
  readonly log: Log;
}

/** See `Platform.missed`. What a limit leaves unread is read by the next looks, first of all. */
export function createMissed({ client, identity, log }: MissedOptions) {
  /** What the looks so far left unread, and since when, in milliseconds since the epoch. */
  let unread: ReadonlyMap<Place, number> = new Map();
  /** Where the last look began to read: one that is made again begins there too. */
  let last: { readonly since: string; readonly from: ReadonlyMap<Place, number> } | null = null;
  let limitTold = false;

  async function readThread(self: Self, place: Place, sinceMs: number): Promise<ReadThread> {
    const where = readPlace(place);
    const replies: ReplyEvent[] = [];
    if (where?.threadTs === undefined) return { replies, end: "all" };
    const { channel, threadTs: ts } = where;
    const query = { channel, ts, oldest: timestampOf(sinceMs), inclusive: true, limit: pageSize };
    let cursor: string | undefined;
    for (let page = 0; page < mostPages; page += 1) {
      const answer = await client.conversations
        .replies(cursor === undefined ? query : { ...query, cursor })
        .catch((error: unknown) => {
          const fault = faultOf(error);
          if (fault.limited) return "limited" as const;
          if (fault.retryable || tokenTroubles.has(fault.code ?? "")) throw error;
          log.debug("A thread in Slack can't be read", { place, reason: fault.reason });
          return "unreadable" as const;
        });
      if (answer === "limited") return { replies, end: "limited" };
      if (answer === "unreadable") return { replies, end: "all" };
      const { messages, response_metadata } = rawPage.parse(answer);
      for (const message of messages ?? []) {
        const reply = translateStored(message, channel, self);
        // Slack gives the thread's first message whatever it is asked for.
        if (reply !== null && millisecondsOf(reply.message) >= sinceMs) replies.push(reply);
      }
      cursor = response_metadata?.next_cursor || undefined;
      if (cursor === undefined) return { replies, end: "all" };
    }
    return { replies, end: "left" };
  }

  function tellLimit(left: number): void {
    if (left > 0 && !limitTold) {
      log.warn("Slack limits how many threads can be read back; the others follow", { left });
    }
    limitTold = left > 0;
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
    tellLimit(left.size);
    unread = left;
    last = { since, from };
    return replies.toSorted((one, other) => compare(one.message, other.message));
  }

  return async function missed(what: Missed): Promise<readonly PersonEvent[]> {
    try {
      return await look(what);
    } catch (error) {
      throw new Error(faultOf(error).reason, { cause: error });
    }
  };
}

const startedMs = (place: Place): number => millisecondsOf(readPlace(place)?.threadTs ?? "0.0");

const compare = (one: string, other: string): number =>
  millisecondsOf(one) - millisecondsOf(other) || (one < other ? -1 : one > other ? 1 : 0);
