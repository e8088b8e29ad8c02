/** How tries are made: the client's defaults, which one call may override. */
export interface TryOptions {
  /** Of each try, from the first byte sent to the last byte read, in ms; 60,000 if absent. */
  readonly timeoutMs?: number;
  /** Further tries after the first; 2 if absent. */
  readonly retries?: number;
  /** Pause before the first retry, in ms; 500 if absent. Each further one is twice as long, up to `maxBackoffMs`. */
  readonly backoffMs?: number;
  /** In ms; 8,000 if absent. */
  readonly maxBackoffMs?: number;
  /** If the service asks for a longer wait, the call rejects instead; 30,000 ms if absent. */
  readonly maxRetryAfterMs?: number;
}

/** The last argument of every call. */
export interface CallOptions extends TryOptions {
  /** Aborts the call, its pauses between tries included. */
  readonly signal?: AbortSignal;
  /** Headers of this call's requests. They replace the client's own of the same name; null leaves one out. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

/** The values for options that neither the client nor the call sets. */
export const defaultTries: Required<TryOptions> = {
  timeoutMs: 60_000,
  retries: 2,
  backoffMs: 500,
  maxBackoffMs: 8_000,
  maxRetryAfterMs: 30_000,
};
const names = ["timeoutMs", "retries", "backoffMs", "maxBackoffMs", "maxRetryAfterMs"] as const;

/** The longest time that timers can wait; with a longer one they would not wait at all. */
const longestMs = 2 ** 31 - 1;

/** Throws the error that `fault` makes if an option is not a number in its range. */
export function checkTryOptions(
  options: Required<TryOptions>,
  fault: (detail: string, field: string) => Error,
): void {
  for (const name of names) {
    const least = name === "timeoutMs" ? 1 : 0;
    if (!(options[name] >= least && options[name] <= longestMs)) {
      throw fault(`${name} must be a number from ${least} to ${longestMs}`, name);
    }
  }
}
