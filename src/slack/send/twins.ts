import { WebAPIPlatformError, type WebClient } from "@slack/web-api";
import type { Log } from "#base/log.ts";
import type { TwinPostsEffect } from "#core/effect.ts";
import type { MessageId } from "#core/place.ts";
import type { StoredMessage } from "#slack/payloads.ts";
import type { SlackPlace } from "#slack/place.ts";
import { type createLookUp, keptTwinMetadata } from "./look-up.ts";

/** Refusals after which a twin is gone, or stays for good. */
const settled: ReadonlySet<string> = new Set([
  "message_not_found",
  "cant_delete_message",
  "cant_update_message",
]);

const keptTwinText =
  "Posted twice by mistake: this message is not followed. Replies reach the agent in the thread of the other one.";

/** Options of `endTwins`. */
export interface EndTwinsOptions {
  readonly client: WebClient;
  readonly search: ReturnType<typeof createLookUp>;
  readonly place: SlackPlace;
  readonly log: Log;
}

/**
 * Deletes the messages that the same effect posted, except the one that stays. A twin that people have replied to
 * is not deleted, since their words would lose what they answer: it says instead that it is not followed. Returns
 * the ended messages. Rejects as `WebClient` does.
 */
export async function endTwins(
  effect: TwinPostsEffect,
  { client, search, place, log }: EndTwinsOptions,
): Promise<readonly MessageId[]> {
  const { channel } = place;
  const ended: MessageId[] = [];

  async function end({ ts, reply_count }: StoredMessage): Promise<void> {
    const isAnswered = place.threadTs === undefined && (reply_count ?? 0) > 0;
    const fields = { at: effect.at, message: ts, kept: effect.message };
    try {
      if (isAnswered) {
        await client.chat.update({ channel, ts, text: keptTwinText, blocks: [], metadata: keptTwinMetadata });
      } else {
        await client.chat.delete({ channel, ts });
      }
      ended.push(ts);
      log.warn("A message in Slack was posted twice; the twin was ended", {
        ...fields,
        deleted: !isAnswered,
      });
    } catch (error) {
      if (!(error instanceof WebAPIPlatformError) || !settled.has(error.data.error)) throw error;
      if (error.data.error === "message_not_found") return;
      log.warn("A message in Slack was posted twice and can't be ended", {
        ...fields,
        code: error.data.error,
      });
    }
  }

  await search(
    { id: effect.id, of: effect.of, since: effect.postedSince, place, isSettling: false },
    async (message) => {
      if (message.ts !== effect.message) await end(message);
      return true;
    },
  );
  return ended;
}
