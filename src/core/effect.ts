import type { CommandEvent, PersonEvent } from "./event.ts";
import type { Person } from "./person.ts";
import type { DispatchId, EffectId, MessageId, Place, Ref, RunId, Scope } from "./place.ts";
import type { Run } from "./run.ts";
import type { View } from "./view.ts";

/** Destination of the effects that the Agent Runs API performs. */
export const toApi = "agent-runs";
/** Destination of the effects that only read from the Agent Runs API; they don't wait for writes. */
export const toApiRead = "agent-runs:read";
/** Destination of the effects that the engine performs itself. */
export const toEngine = "engine";

/** Returns the beginning of the ids of all effects of this kind with this cause. */
export const idPrefix = (cause: string, kind: Effect["kind"]): string => `${cause}/${kind}/`;

interface Pending {
  /** Permanent. Anything that the effect creates outside carries it, so that an earlier try can be found. */
  readonly id: EffectId;
  /** The destination. A thread's effects toward one destination happen in order, one at a time. */
  readonly to:
    | typeof toApi
    | typeof toApiRead
    | typeof toEngine
    | Place
    | Scope
    | `read ${Place}`
    | `later ${Place}`
    | `watch ${string}`;
  /** Id of an effect of the same thread that must end first. */
  readonly after?: EffectId;
  /** Time of the decision, RFC 3339. */
  readonly since: string;
  /** Failed tries so far. */
  readonly tries: number;
  /** How many of them only searched for an earlier one, and found that it may still appear. */
  readonly searches?: number;
  /** Earliest time of the next try, RFC 3339. */
  readonly notBefore?: string;
  /** The wait that led to `notBefore`, in milliseconds: never wait longer, since the clock may have been set. */
  readonly waitMs?: number;
  /** Time spent on the failed tries and the waits between them, in milliseconds; see `ageOf`. */
  readonly ageMs?: number;
  /** An earlier try may have succeeded: look for it before trying again. */
  readonly uncertain?: boolean;
}

/** Create the dispatch's run from its record in the thread. */
export interface CreateEffect extends Pending {
  readonly kind: "create";
  readonly dispatch: DispatchId;
}
/** Send a message to the dispatch's run. */
export interface FollowUpEffect extends Pending {
  readonly kind: "follow-up";
  readonly dispatch: DispatchId;
  readonly message: string;
  /** Its author, and the message to react to when the API has accepted it. */
  readonly from: { readonly place: Place; readonly message?: MessageId; readonly by: Person };
}
/** Cancel the dispatch's run; `asked` is the event that requested it. */
export interface CancelEffect extends Pending {
  readonly kind: "cancel";
  readonly dispatch: DispatchId;
  readonly asked: PersonEvent;
}
/** Read one run for an `attach` or `status` that names it. */
export interface FetchEffect extends Pending {
  readonly kind: "fetch";
  readonly runId: RunId;
  readonly asked: CommandEvent;
}
/** Read the agent's answer, the last assistant message of the run's conversation. */
export interface AnswerEffect extends Pending {
  readonly kind: "answer";
  readonly dispatch: DispatchId;
  /**
   * Whether this end was reported before; absent: no. `perhaps`: it is reported again only if the agent has written
   * something since. `passed-over`: it was not seen until a later one was reported, so its own answer makes it news, too.
   * `yes`: the agent's answer is told alone if it has appeared since.
   */
  readonly reported?: "perhaps" | "passed-over" | "yes";
  /** The last follow-up that the API had accepted: a conversation without it is not up to date. */
  readonly followUp?: EffectId;
  /** Snapshot of the run when it ended or blocked. */
  readonly run: Omit<Run, "prompt">;
}
/** List the scope's recent runs for a command without a run id. */
export interface ListEffect extends Pending {
  readonly kind: "list";
  readonly asked: CommandEvent;
}
/** Look for a second run of a dispatch that an uncertain effect may have made, and cancel it. */
export interface TwinRunsEffect extends Pending {
  readonly kind: "twin-runs";
  readonly dispatch: DispatchId;
  /** Second runs that earlier looks found. */
  readonly found?: readonly RunId[];
  /** Looks so far. */
  readonly looks: number;
}
/** Look whether an uncertain follow-up reached the run twice. */
export interface TwinMessagesEffect extends Pending {
  readonly kind: "twin-messages";
  readonly dispatch: DispatchId;
  /** The follow-up. */
  readonly of: EffectId;
  readonly from: FollowUpEffect["from"];
  readonly looks: number;
}
/** The effects that the Agent Runs API performs. */
export type ApiEffect =
  | TwinRunsEffect
  | TwinMessagesEffect
  | CreateEffect
  | FollowUpEffect
  | CancelEffect
  | FetchEffect
  | AnswerEffect
  | ListEffect;

/** Post the run's card, or edit it (`message`). A card posted in a scope begins a new place. */
export interface CardEffect extends Pending {
  readonly kind: "card";
  readonly at: Place | Scope;
  readonly dispatch: DispatchId;
  readonly view: View;
  /** Increases with each new view, so that a newer view is not lost while an older one is being sent. */
  readonly revision: number;
  readonly message?: MessageId;
}
/** Post a message once, with a notification. */
export interface ReplyEffect extends Pending {
  readonly kind: "reply";
  readonly at: Place;
  readonly view: View;
  /** Its run, whose requester gets the message privately if the place is gone or closed. */
  readonly dispatch?: DispatchId;
}
/** Send a message to one person, privately where the platform allows it. */
export interface TellEffect extends Pending {
  readonly kind: "tell";
  readonly at: Place | Scope;
  readonly person: Person;
  readonly view: View;
  /** The platform's address for a private reply, if it gave one. */
  readonly answerVia?: string;
}
/** React to a person's message to show whether the agent got it. */
export interface ReactEffect extends Pending {
  readonly kind: "react";
  readonly at: Place;
  readonly message: MessageId;
  readonly reaction: "taken" | "refused";
}
/** Make `label` the only state label of the place. */
export interface LabelEffect extends Pending {
  readonly kind: "label";
  readonly at: Place;
  readonly label: StateLabel;
  readonly revision: number;
}
/** Read the place's messages up to `until` (RFC 3339), except the message `except`. */
export interface ReadEffect extends Pending {
  readonly kind: "read";
  readonly at: Place;
  readonly until: string;
  readonly except?: MessageId;
  readonly dispatch: DispatchId;
}
/** Ask the platform for the person's permission. */
export interface PermissionEffect extends Pending {
  readonly kind: "permission";
  readonly at: Place;
  readonly person: Person;
}
/** Look for other messages that the same uncertain effect posted, and delete them. */
export interface TwinPostsEffect extends Pending {
  readonly kind: "twin-posts";
  /** The place of the message or, for a card that began a place, the scope. */
  readonly at: Place | Scope;
  /** The effect that posted them. */
  readonly of: EffectId;
  /** Time of that effect's decision, RFC 3339. */
  readonly postedSince: string;
  /** The message that stays. */
  readonly message: MessageId;
  readonly looks: number;
}
/** The effects that a platform performs. */
export type PlatformEffect =
  | TwinPostsEffect
  | CardEffect
  | ReplyEffect
  | TellEffect
  | ReactEffect
  | LabelEffect
  | ReadEffect
  | PermissionEffect;

/** Have the ref's thread decide the event. */
export interface HandOverEffect extends Pending {
  readonly kind: "hand-over";
  readonly ref: Ref;
  readonly event: CommandEvent;
}

export type Effect = ApiEffect | PlatformEffect | HandOverEffect;

/** An effect that looks for twins. */
export type WatchEffect = TwinRunsEffect | TwinMessagesEffect | TwinPostsEffect;

/** Returns whether the effect looks for twins: nobody waits for it. */
export function isWatch<E extends { readonly kind: Effect["kind"] }>(
  effect: E,
): effect is Extract<E, { readonly kind: WatchEffect["kind"] }> {
  return effect.kind === "twin-runs" || effect.kind === "twin-messages" || effect.kind === "twin-posts";
}

/** Labels that show the state of a place's run. */
export const stateLabels = [
  "agent:queued",
  "agent:running",
  "agent:blocked",
  "agent:done",
  "agent:failed",
] as const;
export type StateLabel = (typeof stateLabels)[number];
