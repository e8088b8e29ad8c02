import type { CommandEvent, PersonEvent } from "./event.ts";
import type { Person } from "./person.ts";
import type { MessageId, Place, Ref, Scope } from "./place.ts";
import type { CreateRequest, Run } from "./run.ts";
import type { View } from "./view.ts";

/** Destination of the effects that the Agent Runs API performs. */
export const toApi = "agent-runs";
/** Destination of what is only read from the Agent Runs API: it need not wait for what is written. */
export const toApiRead = "agent-runs:read";
/** Destination of what the engine does by itself: handing an event to another thread. */
export const toEngine = "engine";

interface Pending {
  /** Never changes; the outside world carries it, so that a repetition can be recognised. */
  readonly id: string;
  /** One thread's effects toward one destination happen in order, one at a time. */
  readonly to: typeof toApi | typeof toApiRead | typeof toEngine | Place | Scope | `read ${Place}`;
  /** Not to be tried while this effect of the same thread is still to perform. */
  readonly after?: string;
  /** When it was decided, RFC 3339. */
  readonly since: string;
  /** Tries that failed so far. */
  readonly tries: number;
  /** Not to be tried before, RFC 3339. */
  readonly notBefore?: string;
  /** An earlier try may have succeeded unseen: look it up before doing it again. */
  readonly uncertain?: boolean;
}

/** Create a run; `factory`, a name or uid, sends the prompt to that factory. */
export interface CreateEffect extends Pending {
  readonly kind: "create";
  readonly dispatch: string;
  readonly request: CreateRequest;
  readonly factory?: string;
}
export interface FollowUpEffect extends Pending {
  readonly kind: "follow-up";
  readonly dispatch: string;
  readonly message: string;
  /** The message to react to when the API has taken it. */
  readonly from: { readonly place: Place; readonly message?: MessageId; readonly by: Person };
}
export interface CancelEffect extends Pending {
  readonly kind: "cancel";
  readonly dispatch: string;
  readonly asked: PersonEvent;
}
/** Read one run: to follow it, or to answer a question about it. */
export interface FetchEffect extends Pending {
  readonly kind: "fetch";
  readonly runId: string;
  readonly asked: PersonEvent;
}
/** Read the agent's answer, the last assistant message of the run's conversation. */
export interface AnswerEffect extends Pending {
  readonly kind: "answer";
  readonly dispatch: string;
  /** The same end was told before, and no follow-up was taken since: only another answer is news. */
  readonly again?: boolean;
  /** The run as it was when it ended or blocked. */
  readonly run: Omit<Run, "prompt">;
}
/** List our recent runs, to answer a command that names none. */
export interface ListEffect extends Pending {
  readonly kind: "list";
  readonly asked: CommandEvent;
}
export type ApiEffect =
  | CreateEffect
  | FollowUpEffect
  | CancelEffect
  | FetchEffect
  | AnswerEffect
  | ListEffect;

/** Post the card, or edit it where it stands (`message`). In a scope it begins a new place. */
export interface CardEffect extends Pending {
  readonly kind: "card";
  readonly at: Place | Scope;
  readonly dispatch: string;
  readonly view: View;
  /** Rises when the view is replaced, so that a newer view is not lost while an older one is sent. */
  readonly revision: number;
  readonly message?: MessageId;
}
/** Post a message once; it notifies. */
export interface ReplyEffect extends Pending {
  readonly kind: "reply";
  readonly at: Place;
  readonly view: View;
  /** Of whose run it tells: who hears it privately if the place is gone or closed. */
  readonly dispatch?: string;
}
/** Tell one person, privately where the platform allows. */
export interface TellEffect extends Pending {
  readonly kind: "tell";
  readonly at: Place | Scope;
  readonly person: Person;
  readonly view: View;
  readonly answerVia?: string;
}
export interface ReactEffect extends Pending {
  readonly kind: "react";
  readonly at: Place;
  readonly message: MessageId;
  readonly reaction: "taken" | "refused";
}
/** Make `label` the only one of the state labels on the place. */
export interface LabelEffect extends Pending {
  readonly kind: "label";
  readonly at: Place;
  readonly label: StateLabel;
  readonly revision: number;
}
/** Read what was said in the place up to `until` (RFC 3339), without the message `except`. */
export interface ReadEffect extends Pending {
  readonly kind: "read";
  readonly at: Place;
  readonly until: string;
  readonly except?: MessageId;
  readonly dispatch: string;
}
/** Ask the platform what the person may do. */
export interface PermissionEffect extends Pending {
  readonly kind: "permission";
  readonly at: Place;
  readonly person: Person;
}
export type PlatformEffect =
  | CardEffect
  | ReplyEffect
  | TellEffect
  | ReactEffect
  | LabelEffect
  | ReadEffect
  | PermissionEffect;

/** Give the event to the thread that the ref leads to; it is decided there. */
export interface HandOverEffect extends Pending {
  readonly kind: "hand-over";
  readonly ref: Ref;
  readonly event: CommandEvent;
}

export type Effect = ApiEffect | PlatformEffect | HandOverEffect;

export const stateLabels = [
  "agent:queued",
  "agent:running",
  "agent:blocked",
  "agent:done",
  "agent:failed",
] as const;
export type StateLabel = (typeof stateLabels)[number];
