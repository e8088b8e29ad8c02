import { WebAPIRateLimitedError, type WebClient } from "@slack/web-api";
import { contextOf } from "#core/context.ts";
import type { ReadEffect } from "#core/effect.ts";
import type { ContextMessage } from "#core/outcome.ts";
import { plainAnswer, type StoredMessage, spoken } from "#slack/payloads.ts";
import { millisecondsOf, type SlackPlace, timeOf, timestampOf } from "#slack/place.ts";
import { isOurs, type Self } from "#slack/translate.ts";
import { plainText } from "#slack/wire-text.ts";
import { isCard } from "./look-up.ts";
import { messagePages, readable } from "./message-pages.ts";

/** Messages after these pages are not read. */
const mostPages = 20;
/** Reading stops at a longer limit: apps outside Slack's Marketplace may get one such call a minute. */
const longestWaitMs = 10_000;

/**
 * Reads the messages of a thread up to `effect.until`; see `contextOf`. Slack lists the oldest first, so all
 * pages are read; a long rate limit ends the reading early. Otherwise rejects as `WebClient` does.
 */
export async function readThread(
  client: WebClient,
  self: Self,
  place: SlackPlace,
  effect: ReadEffect,
): Promise<ReturnType<typeof contextOf>> {
  const untilMs = Date.parse(effect.until);
  const stored = new Map<string, StoredMessage>();
  let isComplete = false;
  try {
    // Slack counts in microseconds, `until` in milliseconds.
    const latest = timestampOf(untilMs + 1);
    for await (const page of messagePages(client, place, { latest }, mostPages)) {
      for (const message of readable(page)) stored.set(message.ts, message);
      isComplete = page.next === null;
    }
  } catch (error) {
    const isLongLimit = error instanceof WebAPIRateLimitedError && error.retryAfter * 1000 > longestWaitMs;
    if (!isLongLimit) throw error;
  }
  const messages = [...stored.values()];
  const isLate = (ts: string): boolean => millisecondsOf(ts) > untilMs;
  const earlier = messages.filter(
    (message) =>
      message.ts !== effect.except &&
      (!message.subtype || spoken.has(message.subtype)) &&
      !isLate(message.ts) &&
      !isCard(message, self),
  );
  return contextOf(
    earlier.map((message) => ({
      message: toContext(message, self),
      editedLate: message.edited ? isLate(message.edited.ts) : false,
      opening: message.ts === place.threadTs,
    })),
    isComplete ? 0 : unread(messages),
  );
}

/** A thread's first message holds the number of its replies. */
const unread = (stored: readonly StoredMessage[]): number =>
  Math.max(1, (stored[0]?.reply_count ?? 0) + 1 - stored.length);

function toContext(message: StoredMessage, self: Self): ContextMessage {
  return {
    author: message.username || message.bot_profile?.name || message.user || message.bot_id || "unknown",
    at: timeOf(message.ts),
    text: textOf(message, self),
    bot: Boolean(message.bot_id) || message.subtype === "bot_message" || message.user === self.userId,
  };
}

/** The bot's replies hold their answer in blocks; their text is only for notifications. */
function textOf(message: StoredMessage, self: Self): string {
  const text = plainText(message.text ?? "");
  if (!isOurs(message, self)) return text;
  const blocks = message.blocks ?? [];
  const answers = blocks.flatMap((block) =>
    block.type === "markdown" && typeof block.text === "string" ? [block.text] : [],
  );
  const plain = blocks.map((block) => plainText(plainAnswer.safeParse(block).data?.text.text ?? "")).join("");
  return [text, ...answers, plain].filter((part) => part !== "").join("\n\n");
}
