import ky from "ky";
import type { z } from "zod";
import { type AgentRunsError, AmbiguousOutcomeError, InvalidRequestError } from "../errors.ts";
import { abortedError, pause } from "./abort.ts";
import { connectionError } from "./connection-error.ts";
import { encodeQuery, type QueryValue } from "./query.ts";
import type { Reading } from "./read-answer.ts";
import type { Answer, Reply } from "./reply.ts";
import { requestHeaders } from "./request-headers.ts";
import { type Failure, type Repeat, type RetryOptions, retryDelayMs } from "./retry.ts";
import { shouldRetry, statusError } from "./status-error.ts";
import { note, type Tried } from "./tried.ts";
import { type CallOptions, checkTryOptions } from "./try-options.ts";

/** The client's options with their defaults filled in. */
export interface TransportOptions extends RetryOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly fetch?: typeof globalThis.fetch;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called after each try. What it throws is ignored. */
  readonly onTry?: (tried: Tried) => void;
}

interface Asked {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly query?: Readonly<Record<string, QueryValue>> | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** A call of an endpoint that has no method of its own. */
export interface AnyRequest extends Asked {
  /** Under the base URL, encoded, without a query: `agent/schedules`, with or without a slash before it. */
  readonly path: string;
  /** The request may be made twice. Default: true for GET and HEAD, false for the others. */
  readonly repeatable?: boolean;
}

/** The schema that an answer's body must satisfy. */
export interface Expecting<T> {
  readonly schema: z.ZodType<T>;
}

/** A request for the transport. */
export interface Sent extends Asked {
  /** Segments after the base URL, not yet encoded; or an encoded path. */
  readonly path: readonly string[] | string;
  readonly repeat: Repeat;
  /**
   * The answer is a file, which a redirect may name. `fetch` leaves the key out when a redirect leads to another
   * origin.
   */
  readonly isFile?: true;
}

/** Makes a call and resolves with its 2xx answer; rejects with an `AgentRunsError`. */
export type Send = <T>(call: Sent, reading: Reading<T>, options?: CallOptions) => Promise<Reply<T>>;

/** Shorter keys are not secret, and removing them would spoil sentences. */
const shortestSecret = 8;

/**
 * Whether a text can be a segment of a path: URLs drop "." and "..", "" leads to another endpoint, and half of
 * a surrogate pair can't be encoded.
 */
export const isSegment = (text: string): boolean =>
  text !== "" && text !== "." && text !== ".." && !/\p{Surrogate}/u.test(text);

/** Throws `InvalidRequestError` for a path that would lead, with the key, out of the base URL. */
function urlOf(root: string, path: Sent["path"]): string {
  if (typeof path !== "string") {
    if (path.every(isSegment)) return `${root}/${path.map(encodeURIComponent).join("/")}`;
    throw new InvalidRequestError("An id is empty or not possible in a URL.");
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

/** Returns the function that sends every call: a try with ky, typed errors, and the retries. */
export function createTransport(options: TransportOptions): Send {
  const root = options.baseUrl.replace(/\/+$/, "");
  const authorization = `Bearer ${options.apiKey}`;
  const redact = (text: string): string =>
    options.apiKey.length < shortestSecret ? text : text.replaceAll(options.apiKey, "[API key]");

  /** Sends one request and reads its answer, whatever its status; rejects as ky and `fetch` do. */
  async function exchange(
    url: string,
    { method, isFile }: Sent,
    headers: Headers,
    body: string | undefined,
    bodyless: boolean,
    { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
  ): Promise<Answer> {
    const response = ky(url, {
      method,
      headers,
      ...(body !== undefined && { body }),
      ...(options.fetch !== undefined && { fetch: options.fetch }),
      ...(signal !== undefined && { signal }),
      // ky's own retries ignore `retry-after-ms` and bodies that break off, and know no certainty.
      retry: 0,
      throwHttpErrors: false,
      // Limits the whole try, the reading of the body included.
      timeout: false,
      totalTimeout: timeoutMs,
      // A redirect could take a prompt to another host.
      redirect: isFile ? "follow" : "manual",
    });
    const { status, headers: received, ok, body: stream } = await response;
    if (ok && bodyless) {
      void stream?.cancel().catch(() => undefined);
      return { status, headers: received, body: "" };
    }
    const text = response.text();
    // A failure's status says enough if its body is lost.
    return { status, headers: received, body: await (ok ? text : text.catch(() => "")) };
  }

  return async (call, reading, callOptions = {}) => {
    const settings = { ...options, ...callOptions };
    checkTryOptions(settings, (detail, field) => new InvalidRequestError(detail, [field]));
    const { signal } = callOptions;
    const query = encodeQuery(call.query ?? {});
    const url = urlOf(root, call.path) + (query && `?${query}`);
    const body = textOf(call.body);
    const headers = requestHeaders(
      {
        accept: call.isFile ? "*/*" : "application/json",
        authorization,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      callOptions.headers,
    );
    const path = redact(new URL(url).pathname);
    const writes = call.method !== "GET" && call.method !== "HEAD";
    async function attempt(): Promise<Answer | Failure> {
      try {
        const answer = await exchange(url, call, headers, body, reading.bodyless ?? false, settings);
        if (answer.status >= 200 && answer.status < 300) return answer;
        const error = statusError(answer, writes, redact, options.now());
        return { error, advice: shouldRetry(answer.headers) };
      } catch (error) {
        const typed = signal?.aborted
          ? abortedError(signal, true)
          : connectionError(error, settings.timeoutMs);
        return { error: typed, advice: undefined };
      }
    }

    if (signal?.aborted) throw abortedError(signal, false);
    const began = performance.now();
    for (let tries = 1; ; tries++) {
      const sentAt = performance.now();
      const outcome = await attempt();
      const durationMs = performance.now() - sentAt;
      const { method } = call;
      note(options.onTry, { method, path, number: tries, ...resultOf(outcome), durationMs });
      if ("status" in outcome) {
        return { ...outcome, data: reading.read(outcome, { writes, redact }) };
      }
      const { error } = outcome;
      const delayMs = retryDelayMs(outcome, call.repeat, tries, settings);
      if (delayMs === null) throw finalError(error, call.repeat);
      // A caller may give up after `timeoutMs` and look for the result; a write must not happen after that.
      const isLate = call.repeat === "once" && performance.now() + delayMs - began > settings.timeoutMs;
      if (isLate) throw error;
      await pause(delayMs, signal, error.certainty === "unknown");
    }
  };
}

/** The result of a try, without texts of the service. */
const resultOf = (outcome: Answer | Failure): Pick<Tried, "status" | "error"> => {
  const { status, reason } = "error" in outcome ? outcome.error : { ...outcome, reason: undefined };
  return status === undefined ? { error: reason } : { status };
};

const finalError = (error: AgentRunsError, repeat: Repeat): AgentRunsError =>
  repeat === "once" && error.certainty === "unknown" ? new AmbiguousOutcomeError(error) : error;
