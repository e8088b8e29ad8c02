/** What the API's client rejects with when the wire or the service let it down. */
import type { Answer } from "./machine.ts";
import { Refused } from "./simulated-run.ts";

/** `writes`: the kind of write; null: it was a read, which can't have done anything. */
export function noAnswer(
  answer: Exclude<Answer<unknown>, { readonly kind: "answered" }>,
  writes: string | null,
): Refused {
  const certainty = writes === null ? "refused" : "unknown";
  switch (answer.kind) {
    case "unreached":
      return new Refused({
        certainty: "not-sent",
        retryable: true,
        reason: "The service can't be reached.",
      });
    case "lost":
      return new Refused({ certainty, retryable: true, reason: "The service gave no answer." });
    case "failed":
      return new Refused({
        certainty,
        status: 503,
        retryable: true,
        reason: "The service answered with status 503.",
      });
    case "nonsense":
      return new Refused({
        // A second cancel does nothing that was not asked for.
        certainty: writes === "cancel" ? "refused" : certainty,
        status: 200,
        retryable: true,
        reason: "The service answered in a form that can't be understood.",
      });
    case "limited":
      return new Refused({
        status: 429,
        code: "resource_unavailable",
        retryable: true,
        retryAfterMs: answer.retryAfterMs,
        reason: "Too many requests.",
      });
    default:
      return answer satisfies never;
  }
}
