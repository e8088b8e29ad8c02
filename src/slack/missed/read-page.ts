/** Reads one page of a channel or a thread that may hold missed messages. */
import type { WebClient } from "@slack/web-api";
import type { ReplyEvent } from "#core/event.ts";
import type { Place, Scope } from "#core/place.ts";
import { storedMessage } from "#slack/payloads.ts";
import { millisecondsOf, placeOf, type SlackPlace, scopeOf, timestampOf } from "#slack/place.ts";
import { isKeptTwin } from "#slack/send/look-up.ts";
import { type MessagePage, messagePage } from "#slack/send/message-pages.ts";
import { type Self, translateStored } from "#slack/translate.ts";
import type { Round } from "./round.ts";

const hourMs = 3_600_000;
/** After an absence, threads that began up to this long before it are searched for replies that mention the bot. */
const threadsMs = 24 * hourMs;
/** Reading this many threads alone costs more requests than finding them in the channel's next page. */
const worthAPage = 2;
/** Apps outside Slack's Marketplace get shorter pages, and few of them. */
const fullPage = 100;

/** What reading needs to know. */
export interface Reading {
  readonly client: WebClient;
  readonly self: Self;
  /** Whether no other company is in the channel. */
  readonly isInternal: (channel: Scope) => boolean;
  readonly round: Round;
  /** Slack's time, in milliseconds since the epoch. */
  readonly nowMs: number;
  /** Places whose replies need no mention; those of missed requests are added. */
  readonly known: Set<Place>;
  /** Channels and threads that this round has read. */
  readonly done: Set<string>;
  /** Threads with a new reply, as their channel's list shows. */
  readonly active: Set<string>;
}

/**
 * Reads the next page of the target, updates the round, and returns the page's missed events. Rejects as `WebClient`
 * does.
 */
export async function readNextPage(
  reading: Reading,
  target: string,
  where: SlackPlace,
): Promise<readonly ReplyEvent[]> {
  return where.threadTs === undefined
    ? readChannelPage(reading, target, where)
    : readThreadPage(reading, target, where);
}

/** Returns the message's event if it is for the bot as far as Slack shows. */
function eventOf(
  { self, isInternal, known, nowMs }: Reading,
  message: Readonly<Record<string, unknown>>,
  channel: string,
): ReplyEvent | null {
  const event = translateStored(message, channel, self, nowMs, isInternal(scopeOf(self.teamId, channel)));
  if (event === null) return null;
  if (known.has(event.place)) return { ...event, underOurs: false };
  if (event.mention && !event.underOurs) known.add(event.place);
  return event.mention || event.underOurs ? event : null;
}

/** Notes that the target is read to its end. */
function finish({ round, done, active }: Reading, target: string): void {
  round.unread.delete(target);
  active.delete(target);
  done.add(target);
}

async function readThreadPage(
  reading: Reading,
  target: string,
  where: SlackPlace,
): Promise<readonly ReplyEvent[]> {
  const { client, self, round } = reading;
  const fromMs = round.unread.get(target)?.fromMs ?? 0;
  const page = await messagePage(client, where, { oldest: timestampOf(fromMs) }, null);
  const first = storedMessage.safeParse(page.messages[0]).data;
  // No thread will ever be saved for a twin.
  if (first !== undefined && isKeptTwin(first, self)) reading.known.add(target);
  const events = page.messages.flatMap((message) => {
    const event = eventOf(reading, message, where.channel);
    // Slack adds the thread's first message whatever the bounds.
    return event !== null && millisecondsOf(event.message) >= fromMs ? [event] : [];
  });
  const newestMs = Math.max(fromMs + 1, ...timesOf(page));
  if (page.next === null) finish(reading, target);
  else round.unread.set(target, { fromMs: newestMs });
  return events;
}

const joins: ReadonlySet<string> = new Set(["channel_join", "group_join"]);
const leaves: ReadonlySet<string> = new Set(["channel_leave", "group_leave"]);

async function readChannelPage(
  reading: Reading,
  target: string,
  where: SlackPlace,
): Promise<readonly ReplyEvent[]> {
  const { client, self, round, nowMs, done } = reading;
  const { fromMs = 0, latest } = round.unread.get(target) ?? {};
  const page = await messagePage(client, where, latest === undefined ? {} : { latest }, null);
  const events: ReplyEvent[] = [];
  let isIn = true;
  for (const message of page.messages) {
    const { data } = storedMessage.safeParse(message);
    if (data === undefined) continue;
    // What was said before the bot came, or came again, was not said to it.
    if (data.user === self.userId && joins.has(data.subtype ?? "")) isIn = false;
    if (data.user === self.userId && leaves.has(data.subtype ?? "")) isIn = true;
    if (!isIn) continue;
    if (millisecondsOf(data.ts) >= fromMs) {
      const event = eventOf(reading, message, where.channel);
      if (event !== null) events.push(event);
    }
    if (data.latest_reply) {
      const thread = placeOf(self.teamId, where.channel, data.ts);
      const unread = round.unread.get(thread);
      if (millisecondsOf(data.latest_reply) < (unread?.fromMs ?? fromMs)) finish(reading, thread);
      else if (!done.has(thread)) {
        reading.active.add(thread);
        if (unread === undefined) round.unread.set(thread, { fromMs });
      }
    }
  }
  const times = timesOf(page);
  const oldestMs = Math.min(...times);
  const untilMs = fromMs - (nowMs - fromMs > hourMs && page.messages.length >= fullPage ? threadsMs : 0);
  const isOver = oldestMs < untilMs && !paysOff(reading, target, oldestMs, Math.max(...times) - oldestMs);
  const last = storedMessage.safeParse(page.messages.at(-1)).data?.ts;
  if (!isIn || page.next === null || last === undefined || isOver) finish(reading, target);
  else round.unread.set(target, { fromMs, latest: last });
  return events;
}

/** Whether the channel's next page, which may cover as much time as this one, saves reading several threads alone. */
function paysOff({ round }: Reading, channel: string, oldestMs: number, spanMs: number): boolean {
  const threads = [...round.unread.keys()].filter((target) => {
    const startedMs = millisecondsOf(
      target.startsWith(`${channel}:`) ? target.slice(channel.length + 1) : "0.0",
    );
    return startedMs < oldestMs && startedMs >= oldestMs - spanMs;
  });
  return threads.length >= worthAPage;
}

const timesOf = ({ messages }: MessagePage): readonly number[] =>
  messages.flatMap(({ ts }) => (typeof ts === "string" ? [millisecondsOf(ts)] : []));
