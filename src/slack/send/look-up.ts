import type { WebClient } from "@slack/web-api";
import type { Effect } from "#core/effect.ts";
import type { MessageId } from "#core/place.ts";
import { type StoredMessage, storedMessage } from "#slack/payloads.ts";
import { type SlackPlace, timestampOf } from "#slack/place.ts";
import { isOurs, type Self } from "#slack/translate.ts";
import { messagePages } from "./message-pages.ts";

const metadataType = "agent_runs_bot";

/** Returns the metadata by which a message that the effect posts is found again. */
export const metadataOf = (effect: Effect) => ({
  event_type: metadataType,
  event_payload: { effect: effect.id, kind: effect.kind },
});

/** The bot's clock and Slack's may differ by this. */
const skewMs = 2 * 60_000;
/** Enough for a busy channel: the search comes soon after the post. */
const mostPages = 50;

/** Whether the message is one of the bot's cards. */
export const isCard = (message: StoredMessage, self: Self): boolean =>
  isOurs(message, self) && payloadOf(message)?.kind === "card";

const payloadOf = ({ metadata }: StoredMessage) =>
  metadata?.event_type === metadataType ? metadata.event_payload : null;

/**
 * Returns the id of the message that an earlier try of the effect posted; null: there is none. Rejects as
 * `WebClient` does; then the effect must not be posted, since the message may exist.
 */
export async function findPosted(
  client: WebClient,
  self: Self,
  place: SlackPlace,
  effect: Effect,
): Promise<MessageId | null> {
  const oldest = timestampOf(Date.parse(effect.since) - skewMs);
  for await (const { messages } of messagePages(client, place, { oldest }, mostPages)) {
    const found = messages
      .map((message) => storedMessage.parse(message))
      .find((message) => isOurs(message, self) && payloadOf(message)?.effect === effect.id);
    if (found !== undefined) return found.ts;
  }
  return null;
}
