import type { Outcome } from "./outcome.ts";
import type { Person, Subject } from "./person.ts";
import { type MessageId, type Place, type Ref, runRef, type Scope, threadRef } from "./place.ts";
import type { Run } from "./run.ts";

interface FromPerson {
  /** Never changes and is the same for every delivery of the same thing: the key of "once". */
  readonly id: string;
  /** When it happened by the platform's clock, RFC 3339. */
  readonly at: string;
  readonly by: Person;
  readonly scope: Scope;
}

/** Words after `/agent` or after a mention, still to be parsed. */
export interface CommandEvent extends FromPerson {
  readonly kind: "command";
  /** null: the command has no place of its own (a slash command in a channel). */
  readonly place: Place | null;
  readonly text: string;
  /** The message that holds the command, to react to. */
  readonly message?: MessageId;
  /** Where a private answer goes, if the platform gave such a way; only the adapter reads it. */
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
  /** It starts its place: nobody wrote there before. */
  readonly first: boolean;
  /** It stands under a recent message of our own, so that its thread surely is, or is about to be, ours. */
  readonly underOurs: boolean;
  /** Files came with it, which only people can open. */
  readonly files?: true;
  readonly subject?: Subject;
}

export interface ButtonEvent extends FromPerson {
  readonly kind: "button";
  readonly place: Place;
  readonly action: "cancel" | "retry";
  /** Dispatch whose card carries the button. */
  readonly dispatch: string;
  /** Its card is so old that a thread which isn't written down was removed, rather than on its way. */
  readonly old?: true;
  readonly answerVia?: string;
}

export interface LabelEvent extends FromPerson {
  readonly kind: "label";
  readonly place: Place;
  readonly label: string;
  readonly subject: Subject;
  /** Read back later instead of delivered: it has another id than the delivery would have had. */
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

/** What came of an effect. `random`, 0 to 1, spreads the next try. */
export interface OutcomeEvent {
  readonly kind: "outcome";
  readonly thread: string;
  readonly effect: string;
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
