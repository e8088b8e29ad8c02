import type { Permission } from "./person.ts";
import type { MessageId, Place, RunId } from "./place.ts";
import type { Run } from "./run.ts";

/** One earlier message of a place, oldest first when in a list. Text is as written, not yet made safe. */
export interface ContextMessage {
  readonly author: string;
  /** RFC 3339. */
  readonly at: string;
  readonly text: string;
  readonly bot: boolean;
}

/** The result of an effect that succeeded. */
export type Done =
  | { readonly ok: true; readonly kind: "create"; readonly runId: RunId; readonly state: string }
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
      /** The place it was sent to, or the one that it began. */
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
      /** Number of messages that are known to be missing (a rate limit, a long thread). */
      readonly omitted: number;
    }
  | { readonly ok: true; readonly kind: "permission"; readonly permission: Exclude<Permission, "unknown"> }
  | { readonly ok: true; readonly kind: "hand-over"; readonly taken: boolean };

/** Code of a fault: another thread has the run or the place already. */
export const takenCode = "taken";

/** The one shape of a failure: of an effect, and of a call of the Agent Runs API (`ApiFault`). */
export interface Fault {
  /** `refused`: it did not happen. `not-sent`: it never arrived. `unknown`: it may have happened. */
  readonly certainty: "refused" | "not-sent" | "unknown";
  /** The same try may succeed later. */
  readonly retryable: boolean;
  /** One sentence for people, without secrets. */
  readonly reason: string;
  /** The destination's own error code, such as `budget_exceeded` or `not_in_channel`. */
  readonly code?: string | undefined;
  /** Where a person can fix the cause. */
  readonly link?: string | undefined;
  /** How long the destination asks to wait. */
  readonly retryAfterMs?: number | undefined;
  /** The destination limits this kind of effect for all threads. */
  readonly limited?: boolean;
}

export type Outcome = Done | { readonly ok: false; readonly fault: Fault };
