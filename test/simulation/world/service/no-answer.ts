/** The errors of the API's client for failures of the network and of the service. */
import type { Answer } from "#test/simulation/world/machine.ts";
import { Refused } from "./simulated-run.ts";

/** `writes`: the kind of write; null: a read, which has no effect. */
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
        // A repeated cancel has no other effect.
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
