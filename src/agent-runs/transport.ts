import ky from "ky";
import { abortedError, pause } from "./abort.ts";
import { connectionError } from "./connection-error.ts";
import { AgentRunsError, InvalidRequestError } from "./errors.ts";
import type { CallOptions } from "./requests.ts";
import { type Repeat, type RetryOptions, retryDelayMs } from "./retry.ts";
import { type Answer, statusError } from "./status-error.ts";

export interface TransportOptions extends RetryOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface Call {
  readonly method: "get" | "post";
  /** Segments after the base URL, not yet encoded. */
  readonly path: readonly string[];
  /** Encoded, without the question mark. */
  readonly query?: string;
  readonly json?: unknown;
  readonly repeat: Repeat;
  /** A 2xx says everything: its body is left alone, so that nothing about it can fail. */
  readonly bodyless?: true;
}

/** Performs a call and resolves with its 2xx answer; rejects with an `AgentRunsError`. */
export type Send = (call: Call, options?: CallOptions) => Promise<Answer>;

/** Shorter ones are no secrets, and taking them out would spoil sentences. */
const shortestSecret = 8;

/** Not every text can be a segment: URLs swallow "." and "..", and "" leads to another endpoint. */
export const isSegment = (text: string): boolean => text !== "" && text !== "." && text !== "..";

function pathOf(segments: readonly string[]): string {
  if (segments.every(isSegment)) return segments.map(encodeURIComponent).join("/");
  throw new InvalidRequestError({
    certainty: "not-sent",
    retryable: false,
    detail: "An id is empty or can't be one.",
  });
}

/** What sends every call: a try with ky, its errors made typed, and the tries after it. */
export function createTransport(options: TransportOptions): Send {
  const root = options.baseUrl.replace(/\/+$/, "");
  const redact = (text: string): string =>
    options.apiKey.length < shortestSecret ? text : text.replaceAll(options.apiKey, "[API key]");

  async function exchange(
    url: string,
    call: Call,
    body: string | undefined,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<Answer> {
    const pending = ky(url, {
      method: call.method,
      headers: {
        accept: "application/json",
        authorization: `Bearer ${options.apiKey}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body }),
      // ky's own retries read neither `retry-after-ms` nor a body that broke off, and know no certainty.
      retry: 0,
      throwHttpErrors: false,
      // Whole tries are timed, the reading of the body included.
      timeout: false,
      totalTimeout: timeoutMs,
      // A redirect could carry the key, or a prompt, to another host.
      redirect: "manual",
      ...(signal !== undefined && { signal }),
      ...(options.fetch !== undefined && { fetch: options.fetch }),
    });
    const response = await pending;
    const { status, headers } = response;
    // The status of a failure tells enough if its body is lost.
    if (!response.ok) return { status, headers, body: await pending.text().catch(() => "") };
    if (!call.bodyless) return { status, headers, body: await pending.text() };
    void response.body?.cancel().catch(() => undefined);
    return { status, headers, body: "" };
  }

  async function attempt(
    url: string,
    call: Call,
    body: string | undefined,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<Answer> {
    let answer: Answer;
    try {
      answer = await exchange(url, call, body, timeoutMs, signal);
    } catch (error) {
      throw signal?.aborted ? abortedError(signal, true) : connectionError(error, timeoutMs);
    }
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw statusError(answer, call.repeat !== "read", redact, options.now());
  }

  return async (call, { signal, timeoutMs = options.timeoutMs, retries = options.retries } = {}) => {
    const url = `${root}/${pathOf(call.path)}${call.query ? `?${call.query}` : ""}`;
    const body = call.json === undefined ? undefined : JSON.stringify(call.json);
    if (signal?.aborted) throw abortedError(signal, false);
    for (let tries = 1; ; tries++) {
      try {
        return await attempt(url, call, body, timeoutMs, signal);
      } catch (error) {
        if (tries > retries || !(error instanceof AgentRunsError)) throw error;
        const delayMs = retryDelayMs(error, call.repeat, tries, options);
        if (delayMs === null) throw error;
        await pause(delayMs, signal, error.certainty !== "not-sent");
      }
    }
  };
}
