import { type Logger, LogLevel, WebClient, type WebClientOptions } from "@slack/web-api";
import type { Log } from "#base/log.ts";

/** Longer than Slack ever takes; what has not come by then may have happened unseen. */
const defaultTimeoutMs = 15_000;

export interface ClientOptions {
  /** Ends in `/api/`; Slack's own when absent. */
  readonly apiUrl?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly log: Log;
}

/**
 * Options of a Slack client that tries once and tells: a wait for a rate limit or another try is for the
 * caller to arrange, who knows what else is waiting and what may not be done twice.
 */
export function clientOptions({ apiUrl, timeoutMs, log }: ClientOptions): WebClientOptions {
  return {
    ...(apiUrl === undefined ? {} : { slackApiUrl: apiUrl }),
    timeout: timeoutMs ?? defaultTimeoutMs,
    rejectRateLimitedCalls: true,
    retryConfig: { retries: 0 },
    logger: vendorLog(log),
  };
}

export const createClient = (botToken: string, options: ClientOptions): WebClient =>
  new WebClient(botToken, clientOptions(options));

/**
 * Slack's packages log through ours. Their debug lines hold whole requests and messages, so they are dropped
 * whatever our own level is.
 */
export function vendorLog(log: Log): Logger {
  const line = (parts: readonly unknown[]): string =>
    `Slack's client: ${parts.map((part) => (part instanceof Error ? part.message : String(part))).join(" ")}`;
  return {
    debug: () => {},
    info: (...parts) => log.debug(line(parts)),
    warn: (...parts) => log.warn(line(parts)),
    error: (...parts) => log.warn(line(parts)),
    setLevel: () => {},
    getLevel: () => LogLevel.INFO,
    setName: () => {},
  };
}
