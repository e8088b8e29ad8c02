import type { WebClient } from "@slack/web-api";
import { rawPage } from "#slack/payloads.ts";
import type { SlackPlace } from "#slack/place.ts";

/**
 * Yields the unparsed messages of a thread (oldest first) or of a channel (newest first) between two of Slack's timestamps,
 * both inclusive, in at most `mostPages` pages of 200. Slack adds a thread's first message whatever the bounds.
 * Throws as `WebClient` does.
 */
export async function* messagePages(
  client: WebClient,
  { channel, threadTs: ts }: SlackPlace,
  between: { readonly oldest?: string; readonly latest?: string },
  mostPages: number,
): AsyncGenerator<{
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly isLast: boolean;
}> {
  const common = { channel, ...between, inclusive: true, include_all_metadata: true, limit: 200 };
  const pages =
    ts === undefined
      ? client.paginate("conversations.history", common)
      : client.paginate("conversations.replies", { ...common, ts });
  let read = 0;
  for await (const page of pages) {
    const { messages, response_metadata } = rawPage.parse(page);
    yield { messages: messages ?? [], isLast: !response_metadata?.next_cursor };
    read += 1;
    if (read >= mostPages) return;
  }
}
