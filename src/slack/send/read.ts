import { WebAPIRateLimitedError, type WebClient } from "@slack/web-api";
import type { ReadEffect } from "#core/effect.ts";
import type { ContextMessage } from "#core/outcome.ts";
import { messagePage, plainAnswer, type StoredMessage, spoken } from "#slack/payloads.ts";
import { millisecondsOf, timeOf, timestampOf } from "#slack/place.ts";
import type { Self } from "#slack/translate.ts";
import { plainText } from "#slack/wire-text.ts";
import { isOurs, metadataType } from "./look-up.ts";

export interface Read {
  readonly messages: readonly ContextMessage[];
  readonly omitted: number;
}

const pageSize = 200;
/** The first, which says what it is all about, and the newest are kept; more would drown the prompt. */
const mostMessages = 100;
/** A thread longer than this is read from its beginning, and its end is missing. */
const mostPages = 20;
/** A longer wait is not worth it: apps outside Slack's Marketplace may get one such call a minute. */
const longestWaitMs = 10_000;

/**
 * What was said in a thread up to `effect.until`. Slack gives the oldest first, so all pages are read. A
 * limit that lasts ends the reading with what is known. Rejects as `WebClient` does.
 */
export async function readThread(
  client: WebClient,
  self: Self,
  where: { readonly channel: string; readonly threadTs: string },
  effect: ReadEffect,
): Promise<Read> {
  const untilMs = Date.parse(effect.until);
  const seen = new Map<string, StoredMessage>();
  let cursor: string | undefined;
  let complete = false;
  for (let page = 0; page < mostPages && !complete; page += 1) {
    const answer = await nextPage(client, {
      channel: where.channel,
      ts: where.threadTs,
      // Slack counts in microseconds, `until` in milliseconds.
      latest: timestampOf(untilMs + 1),
      inclusive: true,
      include_all_metadata: true,
      limit: pageSize,
      ...(cursor === undefined ? {} : { cursor }),
    });
    if (answer === null) break;
    for (const message of answer.messages ?? []) seen.set(message.ts, message);
    cursor = answer.response_metadata?.next_cursor || undefined;
    complete = cursor === undefined;
  }
  return select([...seen.values()], { self, threadTs: where.threadTs, effect, untilMs, complete });
}

/** null: a limit that lasts. */
async function nextPage(
  client: WebClient,
  position: Parameters<WebClient["conversations"]["replies"]>[0],
): Promise<ReturnType<typeof messagePage.parse> | null> {
  try {
    return messagePage.parse(await client.conversations.replies(position));
  } catch (error) {
    if (error instanceof WebAPIRateLimitedError && error.retryAfter * 1000 > longestWaitMs) return null;
    throw error;
  }
}

interface Bounds {
  readonly self: Self;
  readonly threadTs: string;
  readonly effect: ReadEffect;
  readonly untilMs: number;
  readonly complete: boolean;
}

function select(
  stored: readonly StoredMessage[],
  { self, threadTs, effect, untilMs, complete }: Bounds,
): Read {
  const said = stored.filter(
    (message) =>
      message.ts !== effect.except &&
      (!message.subtype || spoken.has(message.subtype)) &&
      millisecondsOf(message.ts) <= untilMs &&
      !isCard(message, self),
  );
  // What was changed afterwards is not what the person who asked had before their eyes.
  const unchanged = said.filter(({ edited }) => !edited || millisecondsOf(edited.ts) <= untilMs);
  const [first, ...later] = unchanged;
  const root = first?.ts === threadTs ? [first] : [];
  const kept = [...root, ...(root.length > 0 ? later : unchanged).slice(root.length - mostMessages)];
  return {
    messages: kept.map((message) => toContext(message, self)),
    omitted: said.length - kept.length + (complete ? 0 : unseen(stored)),
  };
}

/** How many were never read: the first message of a thread knows how many follow it. */
const unseen = (stored: readonly StoredMessage[]): number =>
  Math.max(1, (stored[0]?.reply_count ?? 0) + 1 - stored.length);

const isCard = (message: StoredMessage, self: Self): boolean =>
  isOurs(message, self) &&
  message.metadata?.event_type === metadataType &&
  message.metadata.event_payload?.kind === "card";

function toContext(message: StoredMessage, self: Self): ContextMessage {
  return {
    author: message.username || message.bot_profile?.name || message.user || message.bot_id || "unknown",
    at: timeOf(message.ts),
    text: textOf(message, self),
    bot: Boolean(message.bot_id) || message.subtype === "bot_message" || message.user === self.userId,
  };
}

/** Our replies hold their answer in a Markdown block; their text is only what a notification shows. */
function textOf(message: StoredMessage, self: Self): string {
  const text = plainText(message.text ?? "");
  if (!isOurs(message, self)) return text;
  const blocks = message.blocks ?? [];
  const answers = blocks.flatMap((block) =>
    block.type === "markdown" && typeof block.text === "string" ? [block.text] : [],
  );
  const plain = blocks.flatMap((block) => {
    const { data } = plainAnswer.safeParse(block);
    return data === undefined ? [] : [plainText(data.text.text)];
  });
  return [text, ...answers, ...(plain.length > 0 ? [plain.join("")] : [])].join("\n\n");
}
