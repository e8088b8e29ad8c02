import type { Permission } from "./person.ts";
import type { MessageId, Place } from "./place.ts";
import type { Run } from "./run.ts";

/** One earlier message of a place, oldest first when in a list. Text is as written, not yet made safe. */
export interface ContextMessage {
  readonly author: string;
  /** RFC 3339. */
  readonly at: string;
  readonly text: string;
  readonly bot: boolean;
}

export type Done =
  | { readonly ok: true; readonly kind: "create"; readonly runId: string; readonly state: string }
  | { readonly ok: true; readonly kind: "follow-up" }
  | { readonly ok: true; readonly kind: "cancel" }
  | { readonly ok: true; readonly kind: "fetch"; readonly run: Run | null }
  | { readonly ok: true; readonly kind: "answer"; readonly text: string | null }
  | { readonly ok: true; readonly kind: "list"; readonly runs: readonly Run[] }
  | {
      readonly ok: true;
      readonly kind: "card";
      readonly revision: number;
      readonly message: MessageId;
      /** Where the card stands: the place it was sent to, or the one that it began. */
      readonly place: Place;
    }
  | { readonly ok: true; readonly kind: "reply"; readonly message: MessageId }
  | { readonly ok: true; readonly kind: "tell" }
  | { readonly ok: true; readonly kind: "react" }
  | { readonly ok: true; readonly kind: "label"; readonly revision: number }
  | {
      readonly ok: true;
      readonly kind: "read";
      readonly messages: readonly ContextMessage[];
      /** How many are missing for a reason that people should know of (a rate limit, a long thread). */
      readonly omitted: number;
    }
  | { readonly ok: true; readonly kind: "permission"; readonly permission: Exclude<Permission, "unknown"> }
  | { readonly ok: true; readonly kind: "hand-over"; readonly taken: boolean };

/** Code of a fault: another thread has the run or the place that this one would have claimed. */
export const takenCode = "taken";

/**
 * Why an effect did not succeed, or is not known to have. `certainty`: `refused` — it was answered and did
 * not happen; `not-sent` — it never arrived; `unknown` — it may have happened.
 */
export interface Fault {
  readonly certainty: "refused" | "not-sent" | "unknown";
  /** The same try may succeed later. */
  readonly retryable: boolean;
  /** One sentence for people, without secrets. */
  readonly reason: string;
  /** The destination's own error code, such as `budget_exceeded` or `not_in_channel`. */
  readonly code?: string;
  /** Where a person can put it right. */
  readonly link?: string;
  readonly retryAfterMs?: number;
  /** The destination is limiting this kind of effect for everybody, not only this one. */
  readonly limited?: boolean;
}

export type Outcome = Done | { readonly ok: false; readonly fault: Fault };
