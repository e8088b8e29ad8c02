import type { WebClient } from "@slack/web-api";
import type { Effect } from "#core/effect.ts";
import type { MessageId } from "#core/place.ts";
import { messagePage, type StoredMessage } from "#slack/payloads.ts";
import { timestampOf } from "#slack/place.ts";
import type { Self } from "#slack/translate.ts";

/** Type of the metadata that every message of ours carries. */
export const metadataType = "agent_runs_bot";

export const metadataOf = (effect: Effect) => ({
  event_type: metadataType,
  event_payload: { effect: effect.id, kind: effect.kind },
});

/** Our clock and Slack's need not agree. */
const skewMs = 2 * 60_000;
const pageSize = 200;
/** A channel may be busy, but the message is looked for soon after it was sent. */
const mostPages = 50;

/** By us, whatever the text or the metadata of others may claim. */
export const isOurs = (message: StoredMessage, self: Self): boolean =>
  message.user === self.userId || (self.botId !== null && message.bot_id === self.botId);

/**
 * The message that an earlier try of the effect posted; null if there is none. `threadTs` absent: in the
 * channel itself. Rejects as `WebClient` does; nothing may be posted then, for it may be there.
 */
export async function findPosted(
  client: WebClient,
  self: Self,
  where: { readonly channel: string; readonly threadTs?: string },
  effect: Effect,
): Promise<MessageId | null> {
  const since = {
    channel: where.channel,
    oldest: timestampOf(Date.parse(effect.since) - skewMs),
    inclusive: true,
    include_all_metadata: true,
    limit: pageSize,
  };
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const position = cursor === undefined ? since : { ...since, cursor };
    const answer = messagePage.parse(
      where.threadTs === undefined
        ? await client.conversations.history(position)
        : await client.conversations.replies({ ...position, ts: where.threadTs }),
    );
    const found = answer.messages?.find((message) => isOurs(message, self) && carries(message, effect));
    if (found !== undefined) return found.ts;
    cursor = answer.response_metadata?.next_cursor || undefined;
    if (cursor === undefined) return null;
  }
  return null;
}

const carries = (message: StoredMessage, effect: Effect): boolean =>
  message.metadata?.event_type === metadataType && message.metadata.event_payload?.effect === effect.id;
