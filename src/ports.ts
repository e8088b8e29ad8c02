/** What the engine needs of the outside, and what the outside may ask of the engine. */

import type { PlatformEffect } from "#core/effect.ts";
import type { PersonEvent } from "#core/event.ts";
import type { Fault, Outcome } from "#core/outcome.ts";
import type { Place, Ref, Scope } from "#core/place.ts";
import type { CreateRequest, Run } from "#core/run.ts";
import type { Thread } from "#core/thread.ts";

/**
 * The Agent Runs API. A call that fails rejects with an Error that has the fields of `ApiFault`; an error
 * without them is taken for a defect: retryable, with an unknown outcome.
 */
export interface AgentRuns {
  create(request: CreateRequest): Promise<{ readonly run_id: string; readonly state: string }>;
  list(query: RunQuery): Promise<RunPage>;
  fetch(runId: string): Promise<Run>;
  followUp(runId: string, request: { readonly message: string }): Promise<unknown>;
  cancel(runId: string): Promise<unknown>;
}

export interface RunQuery {
  readonly name?: string;
  /** 1 to 500. */
  readonly limit?: number;
  readonly cursor?: string;
  readonly sort_by?: "updated_at" | "created_at";
  readonly sort_order?: "asc" | "desc";
  /** RFC 3339. */
  readonly created_after?: string;
  /** RFC 3339. */
  readonly updated_after?: string;
}

export interface RunPage {
  readonly runs: readonly Run[];
  readonly page_info: { readonly has_next_page: boolean; readonly next_cursor?: string | null | undefined };
}

export interface Spoken {
  readonly role: string;
  readonly text: string;
  /** RFC 3339, by the API's clock; absent where the API does not tell. */
  readonly at?: string;
}

/** A run's conversation, as text. Rejects like `AgentRuns`. */
export interface Transcripts {
  /** User and assistant texts, oldest first; null while the run has no conversation. */
  messages(runId: string): Promise<readonly Spoken[] | null>;
}

/** The separate factory API. Rejects like `AgentRuns`. */
export interface Factories {
  /** The uid of the factory with this uid, name or alias; null if there is none. */
  findFactory(nameOrUid: string): Promise<string | null>;
  dispatchToFactory(
    uid: string,
    prompt: string,
  ): Promise<{ readonly run_id: string; readonly state: string }>;
}

/** Fields of the errors that the three ports above reject with. */
export interface ApiFault {
  readonly certainty: Fault["certainty"];
  readonly retryable: boolean;
  /** HTTP status, if there was an answer. */
  readonly status?: number | undefined;
  /** Last segment of the problem document's `type`. */
  readonly code?: string | undefined;
  /** The problem document's detail, or a sentence of ours. */
  readonly detail: string;
  readonly authUrl?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** How an effect is to be tried. */
export interface Attempt {
  /** An earlier try may have succeeded: search for the effect's id first, and do it only if it isn't there. */
  readonly uncertain: boolean;
}

/** One platform's sending side. */
export interface Platform {
  /** The part of its places before the colon. */
  readonly name: string;
  /** Performs one effect. Resolves in every case, expected failures included; never rejects. */
  perform(effect: PlatformEffect, attempt: Attempt): Promise<Outcome>;
  /** Resolves if the platform answers to our credentials; rejects with a sentence if it does not. */
  check(): Promise<void>;
  /**
   * Finds what the platform told us in vain: has it delivered again, or reads it back. Answers what it read
   * back, oldest first; what was taken in before may be among it. Rejects with a sentence if it can't tell.
   */
  missed?(look: Missed): Promise<readonly PersonEvent[]>;
}

/** Where to look for what was missed. */
export interface Missed {
  /** RFC 3339, by our clock; everything before was taken in. */
  readonly since: string;
  /** Places of this platform where a run is unfinished. */
  readonly places: readonly Place[];
  /** Scopes of this platform that anything was ever taken in from. */
  readonly scopes: readonly Scope[];
}

/** Short texts that are remembered besides the threads. Both methods reject like the store. */
export interface Notes {
  /** null: nothing was kept under this name, which has letters, digits and dashes only. */
  note(name: string): Promise<string | null>;
  /** Replaces the text under the name; resolves when that is durable. */
  keepNote(name: string, text: string): Promise<void>;
}

export interface Store {
  /**
   * Applies the pure function `fn` to the ref's thread (null: there is none), one change of a thread at a time,
   * and resolves with its `result` when the thread it returned is durable. Returning the same thread, or null,
   * writes nothing. Rejects with the reason if the change was not made; then nothing has changed.
   */
  change<T>(ref: Ref, fn: (thread: Thread | null) => { thread: Thread | null; result: T }): Promise<T>;
  /** null only if there surely is none; a failure to read rejects. */
  find(ref: Ref): Promise<Thread | null>;
  /** Threads with an effect to perform or an unfinished run. */
  unsettled(): AsyncIterable<Thread>;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `then` once, after at least `ms`; the answer calls it off. */
  after(ms: number, then: () => void): () => void;
  /** 0 to 1, for jitter. */
  random(): number;
}

/**
 * Takes an event in. `saved`: it and all that follows from it is durable (or it was known before).
 * `ignored`: it concerns nothing of ours. `again`: it came too early; have it delivered again.
 * Rejects if it could not be saved; then have it delivered again too.
 */
export type Accept = (event: PersonEvent) => Promise<"saved" | "ignored" | "again">;
