import { type Fault, type Outcome, takenCode } from "#core/outcome.ts";
import { type Place, type Ref, runRef } from "#core/place.ts";
import type { Store } from "#ports.ts";

/** The place or run that the outcome makes its thread's own; null: none. */
function claimOf(outcome: Outcome): Place | Ref | null {
  if (!outcome.ok) return null;
  switch (outcome.kind) {
    case "create":
      return runRef(outcome.runId);
    case "fetch":
      return outcome.run === null ? null : runRef(outcome.run.run_id);
    case "card":
      return outcome.place;
    case "follow-up":
    case "cancel":
    case "answer":
    case "list":
    case "reply":
    case "tell":
    case "react":
    case "label":
    case "read":
    case "permission":
    case "hand-over":
      return null;
    default:
      return outcome satisfies never;
  }
}

/**
 * Why the outcome can never be saved as it is: another thread has what it claims, as when two people attach one
 * run at once. null: that is not the reason, or it can't be known now. Never rejects.
 */
export async function takenFault(store: Store, thread: Ref, outcome: Outcome): Promise<Fault | null> {
  const claim = claimOf(outcome);
  if (claim === null) return null;
  try {
    const owner = await store.find(claim);
    if (owner === null || owner.id === thread) return null;
  } catch {
    return null;
  }
  return {
    certainty: "refused",
    retryable: false,
    reason: "Another thread here has it already.",
    code: takenCode,
  };
}
