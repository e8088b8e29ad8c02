import type { TryOptions } from "../requests.ts";

/** What timers can wait at most; more would not wait at all. */
const longestMs = 2 ** 31 - 1;

/** What holds where neither the client nor the call says otherwise. */
export const defaultTries: Required<TryOptions> = {
  timeoutMs: 60_000,
  retries: 2,
  backoffMs: 500,
  maxBackoffMs: 8_000,
  maxRetryAfterMs: 30_000,
};

/** Throws what `fault` makes of an option that is no number of milliseconds, or of retries. */
export function checkTryOptions(options: TryOptions, fault: (detail: string, field: string) => Error): void {
  const { retries, timeoutMs, ...pauses } = options;
  if (retries !== undefined && !(Number.isInteger(retries) && retries >= 0)) {
    throw fault("retries is a whole number, 0 or more", "retries");
  }
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= longestMs)) {
    throw fault(`timeoutMs is above 0 and at most ${longestMs}`, "timeoutMs");
  }
  const { backoffMs, maxBackoffMs, maxRetryAfterMs } = pauses;
  for (const [name, ms] of Object.entries({ backoffMs, maxBackoffMs, maxRetryAfterMs })) {
    if (ms !== undefined && !(ms >= 0 && ms <= longestMs)) {
      throw fault(`${name} is from 0 to ${longestMs}`, name);
    }
  }
}
