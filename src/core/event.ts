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
  /** Never changes and is the same for every delivery of the same thing: the key of "once". */
  readonly id: EventId;
  /** When it happened by the platform's clock, RFC 3339. */
  readonly at: string;
  readonly by: Person;
  readonly scope: Scope;
}

/** A command, as text after `/agent`. */
export interface CommandEvent extends FromPerson {
  readonly kind: "command";
  /** null: the command has no place of its own (a slash command in a channel). */
  readonly place: Place | null;
  readonly text: string;
  /** The parsed command, once it is known; it counts instead of `text`. */
  readonly command?: Command;
  /** The message that holds the command, to react to. */
  readonly message?: MessageId;
  /** Address for a private answer, if the platform gave one; only the adapter reads it. */
  readonly answerVia?: string;
  readonly subject?: Subject;
}

/** A message in a place. With a mention it is a command or a prompt; without, perhaps a follow-up. */
export interface ReplyEvent extends FromPerson {
  readonly kind: "reply";
  readonly place: Place;
  /** Plain text, the mention of the bot taken out. */
  readonly text: string;
  readonly message: MessageId;
  readonly mention: boolean;
  /** It is the first message of its place. */
  readonly first: boolean;
  /** It is under a recent message of ours, so its thread is ours or is about to be saved as ours. */
  readonly underOurs: boolean;
  /** Files are attached, which only people can open. */
  readonly files?: true;
  readonly subject?: Subject;
}

export interface ButtonEvent extends FromPerson {
  readonly kind: "button";
  readonly place: Place;
  readonly action: "cancel" | "retry";
  /** Dispatch whose card carries the button. */
  readonly dispatch: DispatchId;
  /** The card is so old that an unknown thread was removed, and is not about to be saved. */
  readonly old?: true;
  readonly answerVia?: string;
}

export interface LabelEvent extends FromPerson {
  readonly kind: "label";
  readonly place: Place;
  readonly label: string;
  readonly subject: Subject;
  /** Read back later instead of delivered: its id differs from the delivery's. */
  readonly recovered?: true;
}

/** A snapshot of a run, as the API showed it. */
export interface RunEvent {
  readonly kind: "run";
  readonly run: Run;
  /**
   * Set once the record's settling deadline has passed: the record's `followUps` when the snapshot was taken.
   * An unchanged end is final then, unless another follow-up was taken in the meantime.
   */
  readonly followUps?: number;
}

/** The outcome of an effect. `random`, 0 to 1, spreads the next try. */
export interface OutcomeEvent {
  readonly kind: "outcome";
  readonly thread: Ref;
  readonly effect: EffectId;
  readonly outcome: Outcome;
  readonly random: number;
}

export type PersonEvent = CommandEvent | ReplyEvent | ButtonEvent | LabelEvent;
export type Event = PersonEvent | RunEvent | OutcomeEvent;

/** The ref under which the event's thread is found, or begun. */
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
      return event.place;
    default:
      return event satisfies never;
  }
}
