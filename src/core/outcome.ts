import type { Answer } from "./answer.ts";
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
  | ({ readonly ok: true; readonly kind: "answer" } & Answer)
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
  | {
      readonly ok: true;
      readonly kind: "tell";
      /** The message, where it is a public one that stays. */
      readonly message?: MessageId;
    }
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
  | { readonly ok: true; readonly kind: "hand-over"; readonly taken: boolean }
  | {
      readonly ok: true;
      readonly kind: "twin-runs";
      /** The run that stays, if it is not the record's; the others are ended at the next look. */
      readonly kept: Run | null;
      /** Other runs that this look found first, and cancelled unless they had ended or can't be. */
      readonly ended: readonly RunId[];
    }
  | {
      readonly ok: true;
      readonly kind: "twin-messages";
      /** How often the run's conversation shows the message. */
      readonly times: number;
    }
  | {
      readonly ok: true;
      readonly kind: "twin-posts";
      /** Messages that this look deleted. */
      readonly ended: readonly MessageId[];
    };

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
  /** A rate limit on this kind of effect, for all threads; `elsewhere`: on a request that it needs, for this try. */
  readonly limited?: boolean | "elsewhere";
  /** This try only searched for an earlier one, and did nothing that could have succeeded. */
  readonly searching?: boolean;
  /** The earlier try may still take effect, so the settling time begins again. */
  readonly mayStillHappen?: boolean;
}

/** Returns the fault of an effect that needs another kind of request, which failed with this fault. */
export const ofOtherRequest = (fault: Fault): Fault =>
  fault.limited ? { ...fault, limited: "elsewhere" } : fault;

const firstLookMs = 1_000;
const longestLookMs = 15_000;

/**
 * Returns the fault of a search that did not find an earlier try within the settling time, which lasts another
 * `settlesInMs`: the effect must not be repeated yet. `tries`: the effect's failed tries so far.
 */
export const stillSettling = (settlesInMs: number, tries: number): Fault => ({
  certainty: "unknown",
  retryable: true,
  reason: "I am making sure that it has not happened already.",
  retryAfterMs: Math.min(settlesInMs, longestLookMs, firstLookMs * 2 ** Math.min(tries, 10)),
  searching: true,
});

/** The result of one try of an effect. */
export type Outcome = Done | { readonly ok: false; readonly fault: Fault };
