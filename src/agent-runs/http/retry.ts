import { type AgentRunsError, ConnectionError } from "../errors.ts";
import { isTransient } from "./status-error.ts";
import type { TryOptions } from "./try-options.ts";

/**
 * Whether a call may be repeated. `read` and `cancel`: yes. `once`: only if the service certainly did not accept
 * the first try, because a second one would make another run or message.
 */
export type Repeat = "read" | "cancel" | "once";

/** A try that failed. */
export interface Failure {
  readonly error: AgentRunsError;
  /** The answer's explicit advice on retrying (`x-should-retry`). */
  readonly advice: boolean | undefined;
}

/** Options that decide when a failed try is repeated. */
export interface RetryOptions extends Required<TryOptions> {
  /** Returns 0 to 1. */
  readonly random: () => number;
}

const tooManyRequests = 429;

function mayRepeat({ error, advice }: Failure, repeat: Repeat): boolean {
  switch (repeat) {
    case "once":
      return error.retryable && (error.certainty === "not-sent" || error.status === tooManyRequests);
    case "cancel":
      // A conflict lasts until the run is prepared, which is too long for retries; the caller decides.
      return advice === true || (error.status !== 409 && mayRepeat({ error, advice }, "read"));
    case "read":
      if (advice !== undefined) return advice;
      if (!error.retryable) return false;
      return error.status === undefined ? error instanceof ConnectionError : isTransient(error.status);
    default:
      return repeat satisfies never;
  }
}

/**
 * The pause before the retry after `tries` failed tries, in ms; null: don't retry. A wait that the service
 * asks for replaces the backoff, from which jitter takes up to half.
 */
export function retryDelayMs(
  failure: Failure,
  repeat: Repeat,
  tries: number,
  options: RetryOptions,
): number | null {
  if (tries > options.retries || !mayRepeat(failure, repeat)) return null;
  const { retryAfterMs } = failure.error;
  // A wait of 0, or a date in the past, gets the backoff: the service is still turning requests away.
  if (retryAfterMs) return retryAfterMs <= options.maxRetryAfterMs ? retryAfterMs : null;
  const backoffMs = Math.min(options.backoffMs * 2 ** (tries - 1), options.maxBackoffMs);
  return backoffMs * (1 - options.random() / 2);
}
