import { type Logger, LogLevel, WebClient, type WebClientOptions } from "@slack/web-api";
import type { Log } from "#base/log.ts";

/** Slack answers sooner. */
export const defaultTimeoutMs = 15_000;

/** Options of `createClient` and `clientOptions`. */
export interface ClientOptions {
  /** Ends in `/api/`; Slack's own when absent. */
  readonly apiUrl?: string | undefined;
  /** A call without an answer is given up after this; its outcome is then unknown. */
  readonly timeoutMs?: number | undefined;
  /** The `fetch` that makes the requests; the platform's own when absent. */
  readonly fetch?: typeof fetch;
  readonly log: Log;
}

/** Returns the options of a Slack client that tries once: the engine waits for rate limits and tries again. */
export function clientOptions({
  apiUrl,
  timeoutMs = defaultTimeoutMs,
  log,
  ...rest
}: ClientOptions): WebClientOptions {
  return {
    ...rest,
    ...(apiUrl === undefined ? {} : { slackApiUrl: apiUrl }),
    timeout: timeoutMs,
    rejectRateLimitedCalls: true,
    retryConfig: { retries: 0 },
    logger: vendorLog(log),
  };
}

/** Creates a Slack client that tries each call once. */
export const createClient = (botToken: string, options: ClientOptions): WebClient =>
  new WebClient(botToken, clientOptions(options));

/** Returns a logger for Slack's packages. Their debug lines contain whole messages, so they are always dropped. */
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
