import type { Fault } from "#core/outcome.ts";
import type { ApiFault } from "#ports.ts";

const certainties: ReadonlySet<unknown> = new Set<Fault["certainty"]>(["refused", "not-sent", "unknown"]);
const tooManyRequests = 429;

/** True of an error with the fields of `ApiFault`, whichever class it is of. */
export function isApiFault(error: unknown): error is ApiFault {
  if (typeof error !== "object" || error === null) return false;
  const fields: Partial<Record<keyof ApiFault, unknown>> = error;
  return (
    certainties.has(fields.certainty) &&
    typeof fields.retryable === "boolean" &&
    typeof fields.detail === "string" &&
    (fields.status === undefined || typeof fields.status === "number") &&
    (fields.code === undefined || typeof fields.code === "string") &&
    (fields.authUrl === undefined || typeof fields.authUrl === "string") &&
    (fields.retryAfterMs === undefined || typeof fields.retryAfterMs === "number")
  );
}

/** What a rejected call of the API means to the effect. An error without the fields is a defect somewhere. */
export function faultOf(error: unknown): Fault {
  if (!isApiFault(error)) {
    return {
      certainty: "unknown",
      retryable: true,
      reason: "Something unexpected went wrong while talking to the Agent Runs API.",
    };
  }
  return {
    certainty: error.certainty,
    retryable: error.retryable,
    reason: error.detail,
    ...(error.code === undefined ? {} : { code: error.code }),
    ...(error.authUrl === undefined ? {} : { link: error.authUrl }),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
    ...(error.status === tooManyRequests ? { limited: true } : {}),
  };
}
