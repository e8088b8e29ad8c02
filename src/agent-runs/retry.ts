import { type AgentRunsError, ConnectionError } from "./errors.ts";
import { isTransient } from "./status-error.ts";

/**
 * What a repetition of a call would do. `read`: nothing. `cancel`: nothing that was not asked for. `once`: a
 * second run or a second message, so it is repeated only if the first try surely never arrived.
 */
export type Repeat = "read" | "cancel" | "once";

export interface RetryOptions {
  /** Pause before the first retry, in ms; each further one is twice as long. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** A wait that the service asks for and that is longer than this, in ms, is left to the caller. */
  readonly maxRetryAfterMs: number;
  /** 0 to 1. */
  readonly random: () => number;
}

function mayRepeat(error: AgentRunsError, repeat: Repeat): boolean {
  switch (repeat) {
    case "once":
      return error.certainty === "not-sent" && error.retryable;
    case "cancel":
      // A conflict lasts as long as the run is being prepared; waiting for that is the caller's.
      return error.status !== 409 && mayRepeat(error, "read");
    case "read":
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
  error: AgentRunsError,
  repeat: Repeat,
  tries: number,
  options: RetryOptions,
): number | null {
  if (!mayRepeat(error, repeat)) return null;
  if (error.retryAfterMs !== undefined) {
    return error.retryAfterMs <= options.maxRetryAfterMs ? error.retryAfterMs : null;
  }
  const backoffMs = Math.min(options.backoffMs * 2 ** (tries - 1), options.maxBackoffMs);
  return backoffMs * (1 - options.random() / 2);
}
