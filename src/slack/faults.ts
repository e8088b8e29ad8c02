import { WebAPIHTTPError, WebAPIPlatformError, WebAPIRateLimitedError } from "@slack/web-api";
import type { Fault } from "#core/outcome.ts";

const invite = "Invite the bot with /invite @agent, then ask again.";
const token = "Slack does not accept the bot's token; whoever runs the bot has to renew it.";
const setting = "A setting of this workspace or channel keeps the bot from doing that.";
const form = "Slack refused the message's form or length.";

/** Slack's codes that people can do something about. https://docs.slack.dev/reference/methods */
const sentences: Readonly<Record<string, string>> = {
  not_in_channel: `The bot is not in this channel. ${invite}`,
  channel_not_found: `The bot can't see this channel. ${invite}`,
  is_archived: "The channel is archived.",
  restricted_action: setting,
  restricted_action_read_only_channel: setting,
  restricted_action_thread_only_channel: setting,
  restricted_action_non_threadable_channel: setting,
  not_authed: token,
  invalid_auth: token,
  account_inactive: token,
  token_revoked: token,
  token_expired: token,
  missing_scope: "The Slack app lacks a permission; install it again with the current manifest.",
  msg_too_long: form,
  msg_blocks_too_long: form,
  invalid_blocks: form,
  invalid_blocks_format: form,
  message_not_found: "The message is gone.",
  thread_not_found: "The thread is gone.",
  cant_update_message: "Slack does not let the bot edit that message.",
  edit_window_closed: "Slack does not let the bot edit that message any more.",
  user_not_in_channel: "That person is not in the channel.",
};

/** The token may be renewed while the effect waits: an end that was not told yet must not be lost by it. */
const credentials: ReadonlySet<string> = new Set([
  "not_authed",
  "invalid_auth",
  "account_inactive",
  "token_revoked",
  "token_expired",
]);

/** Slack's own troubles: the request may have been done for all that. */
const troubles: ReadonlySet<string> = new Set([
  "internal_error",
  "fatal_error",
  "service_unavailable",
  "request_timeout",
]);
const limits: ReadonlySet<string> = new Set(["ratelimited", "rate_limited", "message_limit_exceeded"]);

/** Codes of the network under which nothing has reached Slack. */
const unsent: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Whether Slack refused how the message is made, not who sends it where. */
export const isRefusedForm = (error: unknown): boolean =>
  error instanceof WebAPIPlatformError && sentences[error.data.error] === form;

/** What a failed call to Slack means for the effect that made it. */
export function faultOf(error: unknown): Fault {
  if (error instanceof WebAPIRateLimitedError) return limited(error.retryAfter);
  if (error instanceof WebAPIPlatformError) return faultOfCode(error.data.error);
  if (error instanceof WebAPIHTTPError) return faultOfStatus(error.statusCode);
  if (neverSent(error)) {
    return { certainty: "not-sent", retryable: true, reason: "Slack can't be reached." };
  }
  return { certainty: "unknown", retryable: true, reason: "Slack did not answer." };
}

const limited = (retryAfterSeconds: number): Fault => ({
  certainty: "refused",
  retryable: true,
  reason: "Slack limits how fast the bot may go on.",
  code: "ratelimited",
  retryAfterMs: retryAfterSeconds * 1000,
  limited: true,
});

function faultOfCode(code: string): Fault {
  if (limits.has(code)) {
    const { retryAfterMs: _, ...fault } = limited(0);
    return fault;
  }
  // An answer that isn't JSON is handed to us whole in the code's stead.
  if (!/^\w{1,100}$/.test(code)) {
    return { certainty: "unknown", retryable: true, reason: "Slack's answer could not be read." };
  }
  if (troubles.has(code)) {
    return { certainty: "unknown", retryable: true, reason: "Slack has trouble of its own.", code };
  }
  return {
    certainty: "refused",
    retryable: credentials.has(code),
    reason: sentences[code] ?? `Slack refused it (${code}).`,
    code,
  };
}

/** For answers of an HTTP status other than 200. `retryAfterSeconds` as the header gave it. */
export function faultOfStatus(status: number, retryAfterSeconds?: number): Fault {
  if (status === 429) return limited(retryAfterSeconds ?? 1);
  const code = `http_${status}`;
  if (status >= 500)
    return { certainty: "unknown", retryable: true, reason: "Slack has trouble of its own.", code };
  return { certainty: "refused", retryable: false, reason: `Slack refused it (HTTP ${status}).`, code };
}

/** The network's code lies at the bottom: Slack's error holds fetch's, which holds the socket's. */
function neverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && typeof error.code === "string" && unsent.has(error.code)) return true;
  return neverSent("original" in error ? error.original : error.cause);
}
