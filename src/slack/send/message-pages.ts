import type { WebClient } from "@slack/web-api";
import { rawPage, type StoredMessage, storedMessage } from "#slack/payloads.ts";
import type { SlackPlace } from "#slack/place.ts";

/** Slack's timestamps, both inclusive. */
export interface Bounds {
  readonly oldest?: string;
  readonly latest?: string;
}

/** A page of unparsed messages. */
export interface MessagePage {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  /** Leads to the next page; null: this is the last one. */
  readonly next: string | null;
}

/**
 * Returns a page of at most 200 messages of a thread (oldest first) or of a channel (newest first): the first one, or
 * the one that `cursor` leads to. Slack adds a thread's first message whatever the bounds. Rejects as `WebClient` does.
 */
export async function messagePage(
  client: WebClient,
  { channel, threadTs: ts }: SlackPlace,
  bounds: Bounds,
  cursor: string | null,
): Promise<MessagePage> {
  const common = {
    channel,
    ...bounds,
    ...(cursor === null ? {} : { cursor }),
    inclusive: true,
    include_all_metadata: true,
    limit: 200,
  };
  const page =
    ts === undefined
      ? await client.conversations.history(common)
      : await client.conversations.replies({ ...common, ts });
  const { messages, response_metadata } = rawPage.parse(page);
  return { messages: messages ?? [], next: response_metadata?.next_cursor || null };
}

/** Returns the page's messages, without those that the bot can't read: one odd message must not hide the others. */
export const readable = ({ messages }: MessagePage): readonly StoredMessage[] =>
  messages.flatMap((message) => storedMessage.safeParse(message).data ?? []);

/** Yields the pages of `messagePage` from the first on, at most `mostPages`. Throws as `WebClient` does. */
export async function* messagePages(
  client: WebClient,
  place: SlackPlace,
  bounds: Bounds,
  mostPages: number,
): AsyncGenerator<MessagePage> {
  let cursor: string | null = null;
  for (let read = 0; read < mostPages; read += 1) {
    const page: MessagePage = await messagePage(client, place, bounds, cursor);
    yield page;
    cursor = page.next;
    if (cursor === null) return;
  }
}
