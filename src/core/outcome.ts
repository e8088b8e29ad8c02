import type { Permission } from "./person.ts";
import type { MessageId, Place, RunId } from "./place.ts";
import type { Run } from "./run.ts";

/** An earlier message of a place; its text is not made safe yet. Lists are oldest first. */
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
      /** The place it was posted in or began. */
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
      /** Number of messages known to be missing (a rate limit, a long thread). */
      readonly omitted: number;
    }
  | { readonly ok: true; readonly kind: "permission"; readonly permission: Exclude<Permission, "unknown"> }
  | { readonly ok: true; readonly kind: "hand-over"; readonly taken: boolean };

/** `Fault.code` if another thread already has the run or the place. */
export const takenCode = "taken";

/** A failed effect, or a failed call of the Agent Runs API (`ApiFault`). */
export interface Fault {
  /** `refused`: it did not happen. `not-sent`: the request never arrived. `unknown`: it may have happened. */
  readonly certainty: "refused" | "not-sent" | "unknown";
  /** Another try may succeed. */
  readonly retryable: boolean;
  /** One sentence for people, without secrets. */
  readonly reason: string;
  /** The destination's own error code, such as `budget_exceeded` or `not_in_channel`. */
  readonly code?: string | undefined;
  /** Web page where a person can fix the cause. */
  readonly link?: string | undefined;
  /** Wait that the destination asks for. */
  readonly retryAfterMs?: number | undefined;
  /** A rate limit on this kind of effect, for all threads. */
  readonly limited?: boolean;
}

/** The result of one try of an effect. */
export type Outcome = Done | { readonly ok: false; readonly fault: Fault };
