import { type Fault, type Outcome, takenCode } from "#core/outcome.ts";
import { type Ref, runRef } from "#core/place.ts";
import type { Store } from "#ports.ts";

const taken: Fault = {
  certainty: "refused",
  retryable: false,
  reason: "Another thread has it already.",
  code: takenCode,
};

/** Returns the ref of the place or run that the outcome adds to its thread, or null. */
function claimOf(outcome: Outcome): Ref | null {
  if (!outcome.ok) return null;
  if (outcome.kind === "create") return runRef(outcome.runId);
  if (outcome.kind === "twin-runs" && outcome.kept !== null) return runRef(outcome.kept.run_id);
  if (outcome.kind === "fetch" && outcome.run !== null) return runRef(outcome.run.run_id);
  return outcome.kind === "card" ? outcome.place : null;
}

/**
 * Resolves with the fault of an outcome that can never be saved because another thread has the place or run that
 * it adds, as when two people attach one run at once; with null for any other or unknown reason. Never rejects.
 */
export async function takenFault(store: Store, thread: Ref, outcome: Outcome): Promise<Fault | null> {
  const claim = claimOf(outcome);
  if (claim === null) return null;
  try {
    const owner = await store.find(claim);
    return owner === null || owner.id === thread ? null : taken;
  } catch {
    return null;
  }
}
