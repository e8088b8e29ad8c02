import { WebAPIPlatformError, type WebClient } from "@slack/web-api";
import { retryAfterMs, unanswered } from "#base/network-fault.ts";
import type { TellEffect } from "#core/effect.ts";
import type { Outcome } from "#core/outcome.ts";
import { faultOf, faultOfStatus, unreachable } from "#slack/faults.ts";
import type { SlackPlace } from "#slack/place.ts";
import { toMessage } from "./blocks.ts";
import { metadataOf } from "./look-up.ts";
import { withPlainFallback } from "./plain-fallback.ts";

/** How requests to response URLs are made. */
interface Responding {
  readonly call: typeof fetch;
  readonly timeoutMs: number;
}

/**
 * Sends one person a private message: through the response URL of a command or a button, which also works where
 * the bot is not a member, or in the channel once that URL has expired (30 minutes, 5 responses), or as a direct
 * message where the bot can't post. A private message can't be looked up, so an uncertain try is repeated.
 * https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
 */
export async function tell(
  client: WebClient,
  responding: Responding,
  { channel, threadTs }: SlackPlace,
  effect: TellEffect,
): Promise<Outcome> {
  if (effect.answerVia !== undefined) {
    const outcome = await respond(effect.answerVia, effect, responding);
    if (outcome !== "expired") return outcome;
  }
  const { platform, id: user } = effect.person;
  if (platform !== "slack") return { ok: false, fault: unreachable };
  const thread = threadTs === undefined ? {} : { thread_ts: threadTs };
  try {
    await withPlainFallback(effect.view, (message) =>
      client.chat.postEphemeral({ channel, user, ...thread, ...message }),
    );
  } catch (error) {
    if (!(error instanceof WebAPIPlatformError) || !closed.has(error.data.error)) throw error;
    // A person's id as the channel is the direct messages with the app.
    await withPlainFallback(effect.view, (message) =>
      client.chat.postMessage({ channel: user, ...message, metadata: metadataOf(effect) }),
    );
  }
  return told;
}

const told: Outcome = { ok: true, kind: "tell" };

/** Refusals of a channel in which the bot can't post, or that the person has left. */
const closed: ReadonlySet<string> = new Set([
  "not_in_channel",
  "channel_not_found",
  "is_archived",
  "user_not_in_channel",
]);

async function respond(
  url: string,
  effect: TellEffect,
  { call, timeoutMs }: Responding,
): Promise<Outcome | "expired"> {
  let response: Response;
  let text: string;
  try {
    response = await call(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        response_type: "ephemeral",
        replace_original: false,
        ...toMessage(effect.view),
      }),
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    text = await response.text();
  } catch (error) {
    return { ok: false, fault: faultOf(error) };
  }
  // The page of a proxy does not come from Slack.
  if (response.ok && text.trimStart().startsWith("<")) return { ok: false, fault: unanswered("Slack", null) };
  if (response.ok) return told;
  if (response.status === 429 || response.status >= 500) {
    const waitMs = retryAfterMs(response.headers.get("retry-after"));
    return { ok: false, fault: faultOfStatus(response.status, waitMs) };
  }
  return "expired";
}
