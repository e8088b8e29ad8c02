import type { Fault } from "#core/outcome.ts";
import type { ApiFault } from "#ports.ts";

const certainties: ReadonlySet<unknown> = new Set<Fault["certainty"]>(["refused", "not-sent", "unknown"]);
const tooManyRequests = 429;

/** Returns whether the error has the fields of `ApiFault`, of any class. */
export function isApiFault(error: unknown): error is ApiFault {
  if (typeof error !== "object" || error === null) return false;
  const { certainty, retryable, reason }: Partial<Record<keyof ApiFault, unknown>> = error;
  return certainties.has(certainty) && typeof retryable === "boolean" && typeof reason === "string";
}

/** Returns the fault of a rejected API call. An error without the fields of `ApiFault` is a defect. */
export function faultOf(error: unknown): Fault {
  if (!isApiFault(error)) {
    return {
      certainty: "unknown",
      retryable: true,
      reason: "Something unexpected went wrong while talking to the Agent Runs API.",
    };
  }
  const { certainty, retryable, reason, code, link, retryAfterMs, status } = error;
  const limited = status === tooManyRequests ? { limited: true } : {};
  return { certainty, retryable, reason, code, link, retryAfterMs, ...limited };
}
