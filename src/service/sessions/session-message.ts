/** The messages that keep a run's page up to date. The page's scripts share these types. */
import type { Run } from "#service/run/run-document.ts";

/** One message of the conversation. `writing` grows; `waiting` has not been given to the agent yet. */
export interface SessionEntry {
  readonly who: "user" | "assistant" | "system";
  readonly kind: "said" | "writing" | "waiting";
  /** Milliseconds since the epoch; null while it is being written. */
  readonly at: number | null;
  readonly text: string;
}

/** A pull request or a file of the run. */
export interface SessionArtifact {
  readonly text: string;
  /** An http or https address; null: there is none. */
  readonly url: string | null;
  /** The id by which the service serves the file; null for anything else. */
  readonly uid: string | null;
}

/** Everything the page shows beside the conversation. Times in milliseconds since the epoch. */
export interface SessionHead {
  readonly title: string;
  readonly state: Run["state"];
  /** The state in words. */
  readonly words: string;
  /** The reason for the state; null if there is none. */
  readonly message: string | null;
  readonly isEnded: boolean;
  readonly canCancel: boolean;
  readonly createdAt: number;
  /** Time spent in turns that are over. */
  readonly workedMs: number;
  /** When the turn under way began; null between turns. */
  readonly turnBegan: number | null;
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly artifacts: readonly SessionArtifact[];
}

/** Turns an earlier text into a later one: `head`, the earlier one's UTF-16 units `from` to `to`, `tail`. */
export interface Splice {
  readonly head: string;
  readonly from: number;
  readonly to: number;
  readonly tail: string;
}

/** The difference between two views of a session. */
export interface SessionChange {
  /** How many entries there are now. */
  readonly count: number;
  /** The whole head, if anything in it has changed. */
  readonly view?: SessionHead;
  /** The new and changed entries by index; a new one's text is spliced onto "". */
  readonly entries?: readonly (Omit<SessionEntry, "text"> & {
    readonly index: number;
    readonly text: Splice;
  })[];
}

/** The data of one server-sent event. */
export interface SessionMessage extends SessionChange {
  /** The service's clock, milliseconds since the epoch. */
  readonly now: number;
  /** In a stream's first message: how many of the reader's entries still hold. It drops the rest. */
  readonly keep?: number;
}
