/** The faults that calls to any platform have in common, in the form of the core's `Fault`. */

/** Codes of Node's network errors under which the request has not left this machine. */
const unsent: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Whether the request certainly never arrived. The code is at the end of the chain of causes. */
function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && unsent.has(error.code)) return true;
  return wasNeverSent("original" in error ? error.original : error.cause);
}

/** The fault of a call that `error` ended without a readable answer. `name`: the platform's, for people. */
export const unanswered = (name: string, error: unknown) =>
  wasNeverSent(error)
    ? ({ certainty: "not-sent", retryable: true, reason: `${name} could not be reached.` } as const)
    : ({ certainty: "unknown", retryable: true, reason: `${name} gave no readable answer.` } as const);

/** The fault of a call that the platform's own error ended; it may have been performed. `what` names the error. */
export const internalError = (name: string, what: string) =>
  ({ certainty: "unknown", retryable: true, reason: `${name} had an internal error (${what}).` }) as const;

/** The fault of a call that a rate limit refused. */
export const rateLimited = (name: string, retryAfterMs?: number) =>
  ({
    certainty: "refused",
    retryable: true,
    limited: true,
    reason: `${name} limits how much the bot may do at the moment.`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }) as const;

/** Returns the milliseconds in a `Retry-After` header, at least a second; undefined: it names no seconds. */
export function retryAfterMs(header: unknown): number | undefined {
  const seconds = Number(header ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.max(1, seconds) * 1000 : undefined;
}
