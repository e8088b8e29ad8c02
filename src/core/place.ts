declare const flavor: unique symbol;

/**
 * A string of one kind. Values of two kinds can't be mixed up: passing a `Scope` for a `Place` doesn't compile.
 * A plain string still fits, so that adapters and stored documents need no casts.
 */
type Flavored<Kind extends string> = string & { readonly [flavor]?: Kind };

/**
 * Where people talk: the platform's name, a colon, and a rest that only that platform's adapter reads.
 * `slack:T1:C1:1700000000.000100` is a thread, `github:octo/app#12` an issue or pull request.
 */
export type Place = Flavored<"place">;
/** The container of a place, in the same form: a channel `slack:T1:C1`, a repository `github:octo/app`. */
export type Scope = Flavored<"scope">;
/** A message inside a place; only the adapter reads it. */
export type MessageId = Flavored<"message">;
/** An event; the same for every delivery of the same thing. */
export type EventId = Flavored<"event">;
/** An effect; it never changes, and the outside world carries it. */
export type EffectId = Flavored<"effect">;
/** A dispatch of ours; the run's metadata carries it. */
export type DispatchId = Flavored<"dispatch">;
/** A run, as the API names it. */
export type RunId = Flavored<"run">;

/** The platform's name in a place or a scope. */
export const platformOf = (at: Place | Scope): string => at.slice(0, at.indexOf(":"));

/** The place in which a card stands, of an effect that names either. */
export const placeAt = (at: Place | Scope): Place => `${at}`;

/** Leads to one thread: a place, `run:<id>`, `thread:<id>`, or the id of an event without a place. */
export type Ref = Flavored<"ref"> | Place | EventId;

/** The ref of the thread that has the run. */
export const runRef = (runId: RunId): Ref => `run:${runId}`;
/** The ref of the thread with this id. */
export const threadRef = (threadId: Ref): Ref => `thread:${threadId}`;
/** The dispatch that an event asks for: one event makes one dispatch. */
export const dispatchFor = (event: EventId): DispatchId => `${event}`;

/** Returns what a place's number counts in if that has a number too: `github:100` of `github:100#7`; else null. */
export const numberedRoom = (place: Place): string | null => /^\w+:\d+(?=#)/.exec(place)?.[0] ?? null;
