import { type AgentRunsError, AmbiguousOutcomeError, InvalidRequestError } from "../errors.ts";
import type { Reply } from "../reply.ts";
import type { CallOptions } from "../requests.ts";
import { abortedError, pause } from "./abort.ts";
import { connectionError } from "./connection-error.ts";
import { type Exchange, exchange } from "./exchange.ts";
import type { Reading } from "./read-answer.ts";
import { type Failure, type Repeat, type RetryOptions, retryDelayMs } from "./retry.ts";
import { type Answer, shouldRetry, statusError } from "./status-error.ts";
import { checkTryOptions } from "./try-options.ts";

export interface TransportOptions extends RetryOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface Sent {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Segments after the base URL, not yet encoded; or a path that is. */
  readonly path: readonly string[] | string;
  /** Encoded, without the question mark. */
  readonly query?: string;
  readonly json?: unknown;
  readonly repeat: Repeat;
}

/** Performs a call and resolves with its 2xx answer; rejects with an `AgentRunsError`. */
export type Send = <T>(call: Sent, reading: Reading<T>, options?: CallOptions) => Promise<Reply<T>>;

/** Shorter ones are no secrets, and taking them out would spoil sentences. */
const shortestSecret = 8;

/**
 * Not every text can be a segment: URLs swallow "." and "..", "" leads to another endpoint, and half of a
 * surrogate pair can't be encoded.
 */
export const isSegment = (text: string): boolean =>
  text !== "" && text !== "." && text !== ".." && !/\p{Surrogate}/u.test(text);

/** Throws `InvalidRequestError` for what would lead out of the base URL, and the key with it. */
function urlOf(root: string, path: Sent["path"]): string {
  if (typeof path !== "string") {
    if (path.every(isSegment)) return `${root}/${path.map(encodeURIComponent).join("/")}`;
    throw new InvalidRequestError("An id is empty or can't be one.");
  }
  const url = new URL(`${root}/${path.replace(/^\/+/, "")}`);
  const within = new URL(`${root}/`).pathname;
  if (url.pathname.startsWith(within) && !/[?#]/.test(path)) return url.href;
  throw new InvalidRequestError("A path leads out of the base URL, or has a query or a fragment.", ["path"]);
}

function textOf(json: unknown): string | undefined {
  try {
    return JSON.stringify(json);
  } catch (error) {
    throw new InvalidRequestError("The request can't be written as JSON.", ["the body"], { cause: error });
  }
}

/** What sends every call: a try with ky, its errors made typed, and the tries after it. */
export function createTransport(options: TransportOptions): Send {
  const root = options.baseUrl.replace(/\/+$/, "");
  const headers = { accept: "application/json", authorization: `Bearer ${options.apiKey}` };
  const jsonHeaders = { ...headers, "content-type": "application/json" };
  const redact = (text: string): string =>
    options.apiKey.length < shortestSecret ? text : text.replaceAll(options.apiKey, "[API key]");

  async function attempt(request: Exchange, repeat: Repeat): Promise<Answer | Failure> {
    let answer: Answer;
    try {
      answer = await exchange(request);
    } catch (error) {
      const { signal, timeoutMs } = request;
      const typed = signal?.aborted ? abortedError(signal, true) : connectionError(error, timeoutMs);
      return { error: typed, told: undefined };
    }
    if (answer.status >= 200 && answer.status < 300) return answer;
    const error = statusError(answer, repeat !== "read", redact, options.now());
    return { error, told: shouldRetry(answer.headers) };
  }

  return async (call, reading, callOptions) => {
    const settings = callOptions === undefined ? options : settingsOf(options, callOptions);
    const signal = callOptions?.signal;
    const url = urlOf(root, call.path);
    const body = textOf(call.json);
    const request: Exchange = {
      url: call.query ? `${url}?${call.query}` : url,
      method: call.method,
      headers: body === undefined ? headers : jsonHeaders,
      body,
      timeoutMs: settings.timeoutMs,
      signal,
      fetch: options.fetch,
      bodyless: reading.bodyless ?? false,
    };
    if (signal?.aborted) throw abortedError(signal, false);
    const began = options.now();
    for (let tries = 1; ; tries++) {
      const outcome = await attempt(request, call.repeat);
      if ("status" in outcome) {
        return { ...outcome, data: reading.read(outcome, { repeat: call.repeat, redact }) };
      }
      const { error } = outcome;
      const delayMs = retryDelayMs(outcome, call.repeat, tries, settings);
      if (delayMs === null) throw finalError(error, call.repeat);
      // Whoever gave such a call up, and looked whether it was done, must not find it done much later.
      const isLate = call.repeat === "once" && options.now() + delayMs - began > settings.timeoutMs;
      if (isLate) throw error;
      await pause(delayMs, signal, error.certainty === "unknown");
    }
  };
}

function settingsOf(options: RetryOptions, call: CallOptions): RetryOptions {
  checkTryOptions(call, (detail, field) => new InvalidRequestError(detail, [field]));
  return {
    timeoutMs: call.timeoutMs ?? options.timeoutMs,
    retries: call.retries ?? options.retries,
    backoffMs: call.backoffMs ?? options.backoffMs,
    maxBackoffMs: call.maxBackoffMs ?? options.maxBackoffMs,
    maxRetryAfterMs: call.maxRetryAfterMs ?? options.maxRetryAfterMs,
    random: options.random,
  };
}

const finalError = (error: AgentRunsError, repeat: Repeat): AgentRunsError =>
  repeat === "once" && error.certainty === "unknown" ? new AmbiguousOutcomeError(error) : error;
