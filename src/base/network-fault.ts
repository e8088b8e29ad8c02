/** Faults that calls to all platforms have in common, in the form of the core's `Fault`. */

/** Codes of Node's network errors after which the request can't have arrived. */
const unsent: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Returns whether the request certainly never arrived; searches the chain of causes for the code. */
function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && unsent.has(error.code)) return true;
  return wasNeverSent("original" in error ? error.original : error.cause);
}

/** Returns the fault of a call without a readable answer. `name` is the platform's display name. */
export const unanswered = (name: string, error: unknown) =>
  wasNeverSent(error)
    ? ({ certainty: "not-sent", retryable: true, reason: `${name} could not be reached.` } as const)
    : ({ certainty: "unknown", retryable: true, reason: `${name} gave no readable answer.` } as const);

/** Returns the fault of a call that failed inside the platform; `what` names the error. */
export const internalError = (name: string, what: string) =>
  ({ certainty: "unknown", retryable: true, reason: `${name} had an internal error (${what}).` }) as const;

/** Returns the fault of a call refused by a rate limit. */
export const rateLimited = (name: string, retryAfterMs?: number) =>
  ({
    certainty: "refused",
    retryable: true,
    limited: true,
    reason: `${name} limits how much the bot may do at the moment.`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }) as const;

/** Returns a `Retry-After` header in milliseconds, at least a second; undefined if it has no seconds. */
export function retryAfterMs(header: unknown): number | undefined {
  const seconds = Number(header ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.max(1, seconds) * 1000 : undefined;
}
