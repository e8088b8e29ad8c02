import { type AgentRunsError, ConnectionError } from "../errors.ts";
import type { TryOptions } from "../requests.ts";
import { isTransient } from "./status-error.ts";

/**
 * What a repetition of a call would do. `read`: nothing. `cancel`: nothing that was not asked for. `once`: a
 * second run or a second message, so it is repeated only if it surely was not taken in.
 */
export type Repeat = "read" | "cancel" | "once";

/** A try that failed. */
export interface Failure {
  readonly error: AgentRunsError;
  /** What the answer said of retrying, in so many words (`x-should-retry`). */
  readonly told: boolean | undefined;
}

export interface RetryOptions extends Required<TryOptions> {
  /** 0 to 1. */
  readonly random: () => number;
}

/** A 503 counts as refused only if it says when to come again; see `status-error.ts`. */
const turnedAway = new Set<number | undefined>([429, 503]);

function mayRepeat({ error, told }: Failure, repeat: Repeat): boolean {
  switch (repeat) {
    case "once":
      if (!error.retryable) return false;
      return (
        error.certainty === "not-sent" || (error.certainty === "refused" && turnedAway.has(error.status))
      );
    case "cancel":
      // A conflict lasts as long as the run is being prepared; waiting for that is the caller's.
      return told === true || (error.status !== 409 && mayRepeat({ error, told }, "read"));
    case "read":
      if (told !== undefined) return told;
      if (!error.retryable) return false;
      return error.status === undefined ? error instanceof ConnectionError : isTransient(error.status);
    default:
      return repeat satisfies never;
  }
}

/**
 * How long to pause, in ms, before the retry after `tries` failed tries; null: don't retry. The service's own
 * word goes before the backoff, whose jitter takes off up to half.
 */
export function retryDelayMs(
  failure: Failure,
  repeat: Repeat,
  tries: number,
  options: RetryOptions,
): number | null {
  if (tries > options.retries || !mayRepeat(failure, repeat)) return null;
  const { retryAfterMs } = failure.error;
  // "At once", or a date that our clock has passed, is no reason to press a service that turns requests away.
  if (retryAfterMs) return retryAfterMs <= options.maxRetryAfterMs ? retryAfterMs : null;
  const backoffMs = Math.min(options.backoffMs * 2 ** (tries - 1), options.maxBackoffMs);
  return backoffMs * (1 - options.random() / 2);
}
