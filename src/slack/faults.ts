import { WebAPIHTTPError, WebAPIPlatformError, WebAPIRateLimitedError } from "@slack/web-api";
import { internalError, rateLimited, unanswered } from "#base/network-fault.ts";
import type { Fault } from "#core/outcome.ts";

const invite = "Invite the bot with /invite @agent, then ask again.";
const token = "Slack does not accept the bot's token; the bot's operator has to renew it.";
const setting = "A setting of this workspace or channel does not allow the bot to do that.";
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
  message_not_found: "The message was deleted.",
  thread_not_found: "The thread was deleted.",
  cant_update_message: "Slack does not let the bot edit that message.",
  edit_window_closed: "Slack does not let the bot edit that message any more.",
  user_not_in_channel: "That person is not in the channel.",
};

/** The fault of an effect for a person or place that Slack does not have. */
export const unreachable: Fault = {
  certainty: "refused",
  retryable: false,
  reason: "There is no such person or place in Slack.",
};

/** Slack's internal errors: the request may have been performed. */
const internal: ReadonlySet<string> = new Set([
  "internal_error",
  "fatal_error",
  "service_unavailable",
  "request_timeout",
]);
const limits: ReadonlySet<string> = new Set(["ratelimited", "rate_limited", "message_limit_exceeded"]);

/** Whether Slack refused the message's form or length, rather than the sender or the place. */
export const isRefusedForm = (error: unknown): boolean =>
  error instanceof WebAPIPlatformError && sentences[error.data.error] === form;

/** Returns the fault of an effect whose call to Slack failed with `error`. */
export function faultOf(error: unknown): Fault {
  if (error instanceof WebAPIRateLimitedError) return limited(error.retryAfter * 1000);
  if (error instanceof WebAPIPlatformError) return faultOfCode(error.data.error);
  if (error instanceof WebAPIHTTPError) return faultOfStatus(error.statusCode);
  return unanswered("Slack", error);
}

const limited = (retryAfterMs?: number): Fault => ({
  ...rateLimited("Slack", retryAfterMs),
  code: "ratelimited",
});

function faultOfCode(code: string): Fault {
  if (limits.has(code)) return limited();
  // The client passes on a body that isn't JSON as the code.
  if (!/^\w{1,100}$/.test(code)) return unanswered("Slack", null);
  if (internal.has(code)) return { ...internalError("Slack", code), code };
  const reason = sentences[code] ?? `Slack refused it (${code}).`;
  // The token may be renewed while the effect waits, and people must still learn that their run has ended.
  return { certainty: "refused", retryable: reason === token, reason, code };
}

/** Returns the fault of a response with this HTTP status, which is not 2xx; `retryAfterMs` from its header. */
export function faultOfStatus(status: number, retryAfterMs = 1000): Fault {
  if (status === 429) return limited(retryAfterMs);
  const code = `http_${status}`;
  if (status >= 500) return { ...internalError("Slack", `HTTP ${status}`), code };
  return { certainty: "refused", retryable: false, reason: `Slack refused it (HTTP ${status}).`, code };
}
