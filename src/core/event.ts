import type { Command } from "./command.ts";
import type { Outcome } from "./outcome.ts";
import type { Person, Subject } from "./person.ts";
import {
  type DispatchId,
  type EffectId,
  type EventId,
  type MessageId,
  type Place,
  type Ref,
  runRef,
  type Scope,
  threadRef,
} from "./place.ts";
import type { Run } from "./run.ts";

interface FromPerson {
  /** The same for every delivery of the event; makes it take effect once. */
  readonly id: EventId;
  /** Time of the event by the platform's clock, RFC 3339. */
  readonly at: string;
  readonly by: Person;
  readonly scope: Scope;
  /** Other names of its place, older ones last: its thread may be saved under one of them. */
  readonly formerPlaces?: readonly Place[];
}

/** A command. */
export interface CommandEvent extends FromPerson {
  readonly kind: "command";
  /** null: it has no place, like a slash command in a channel. */
  readonly place: Place | null;
  /** The text after `/agent`. */
  readonly text: string;
  /** The parsed command; overrides `text`. */
  readonly command?: Command;
  /** The message that holds the command, to react to. */
  readonly message?: MessageId;
  /** The platform's address for a private reply, if it gave one; only the adapter reads it. */
  readonly answerVia?: string;
  readonly subject?: Subject;
}

/** A message in a place: with a mention a command or a prompt, without one possibly a follow-up. */
export interface ReplyEvent extends FromPerson {
  readonly kind: "reply";
  readonly place: Place;
  /** Plain text without the mention of the bot. */
  readonly text: string;
  readonly message: MessageId;
  readonly mention: boolean;
  /** It is the first message of its place. */
  readonly first: boolean;
  /** It is under a recent message of the bot, so its thread is saved or is about to be. */
  readonly underOurs: boolean;
  /** It has attached files, which the agent does not get. */
  readonly files?: true;
  readonly subject?: Subject;
}

export interface ButtonEvent extends FromPerson {
  readonly kind: "button";
  readonly place: Place;
  readonly action: "cancel" | "retry";
  /** The dispatch whose card has the button. */
  readonly dispatch: DispatchId;
  /** The card is so old that its thread, if unknown, was removed rather than not saved yet. */
  readonly old?: true;
  readonly answerVia?: string;
}

export interface LabelEvent extends FromPerson {
  readonly kind: "label";
  readonly place: Place;
  readonly label: string;
  readonly subject: Subject;
  /** It was read back, not delivered; the two have different ids. */
  readonly recovered?: true;
}

/** Somebody moved the conversation from its former places to this one. */
export interface MovedEvent extends FromPerson {
  readonly kind: "moved";
  readonly place: Place;
}

/** A snapshot of a run from the API. */
export interface RunEvent {
  readonly kind: "run";
  readonly run: Run;
  /** Set if the settling deadline has passed: the record's `followUps` when the snapshot was requested. */
  readonly followUps?: number;
  /** The run had passed this snapshot, but has been at it again for longer than any list or replica lags. */
  readonly isLasting?: boolean;
}

/** The outcome of an effect. `random`, 0 to 1, spreads the next try. */
export interface OutcomeEvent {
  readonly kind: "outcome";
  readonly thread: Ref;
  readonly effect: EffectId;
  readonly outcome: Outcome;
  /** An earlier try may have succeeded too, so a twin may appear later. */
  readonly uncertain?: boolean;
  readonly random: number;
}

export type PersonEvent = CommandEvent | ReplyEvent | ButtonEvent | LabelEvent;
/** What a platform tells. */
export type PlatformEvent = PersonEvent | MovedEvent;
export type Event = PlatformEvent | RunEvent | OutcomeEvent;

/** Returns the ref under which the event's thread is found or begun. */
export function refOf(event: Event): Ref {
  switch (event.kind) {
    case "run":
      return runRef(event.run.run_id);
    case "outcome":
      return threadRef(event.thread);
    case "command":
      return event.place ?? event.id;
    case "reply":
    case "button":
    case "label":
    case "moved":
      return event.place;
    default:
      return event satisfies never;
  }
}
