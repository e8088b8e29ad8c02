/**
 * Where people talk: the platform's name, a colon, and what only that platform's adapter reads.
 * `slack:T1:C1:1700000000.000100` is a thread, `github:octo/app#12` an issue or pull request.
 */
export type Place = string;
/** What contains the place, in the same form: a channel `slack:T1:C1`, a repository `github:octo/app`. */
export type Scope = string;
/** A message inside a place; only the adapter reads it. */
export type MessageId = string;

/** The platform's name in a place or a scope. */
export const platformOf = (at: Place | Scope): string => at.slice(0, at.indexOf(":"));

/** Leads to one thread: a place, `run:<id>`, `thread:<id>`, or the id of an event without a place. */
export type Ref = string;

/** The ref of the thread that has the run. */
export const runRef = (runId: string): Ref => `run:${runId}`;
/** The ref of the thread with this id. */
export const threadRef = (threadId: string): Ref => `thread:${threadId}`;
