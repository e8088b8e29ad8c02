/** What the bot needs of the outside, and what the outside may ask of it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log } from "#base/log.ts";
import type { TranscriptMessage } from "#core/answer.ts";
import type { PlatformEffect } from "#core/effect.ts";
import type { PersonEvent } from "#core/event.ts";
import type { Fault, Outcome } from "#core/outcome.ts";
import type { Place, Ref, RunId, Scope } from "#core/place.ts";
import type { PlatformFacts } from "#core/policy.ts";
import type { CreateRequest, Run } from "#core/run.ts";
import type { Thread } from "#core/thread.ts";

/**
 * The Agent Runs API. A call that fails rejects with an Error that has the fields of `ApiFault`; an error
 * without them is taken for a defect: retryable, with an unknown outcome.
 */
export interface AgentRuns {
  create(request: CreateRequest): Promise<{ readonly run_id: RunId; readonly state: string }>;
  list(query: RunQuery): Promise<RunPage>;
  fetch(runId: RunId): Promise<Run>;
  followUp(runId: RunId, request: { readonly message: string }): Promise<unknown>;
  cancel(runId: RunId): Promise<unknown>;
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

/** A run's conversation, as text. Rejects like `AgentRuns`. */
export interface Transcripts {
  /** User and assistant texts, oldest first; null while the run has no conversation. */
  messages(runId: RunId): Promise<readonly TranscriptMessage[] | null>;
}

/** The separate factory API. Rejects like `AgentRuns`. */
export interface Factories {
  /** The uid of the factory with this uid, name or alias; null if there is none. */
  findFactory(nameOrUid: string): Promise<string | null>;
  dispatchToFactory(uid: string, prompt: string): Promise<{ readonly run_id: RunId; readonly state: string }>;
}

/** Fields of the errors that the three ports above reject with. */
export interface ApiFault extends Fault {
  /** HTTP status, if there was an answer. */
  readonly status?: number | undefined;
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
  /** Resolves if the platform accepts our credentials; rejects with a sentence if it does not. */
  check(): Promise<void>;
  /**
   * Looks for missed events: has the platform deliver them again, or reads them back. Resolves with those it
   * read back, oldest first; some may have been taken in before. Rejects with a sentence if it can't look.
   */
  missed?(look: Missed): Promise<readonly PersonEvent[]>;
}

/** A platform whose connection is open. */
export interface OpenPlatform {
  readonly platform: Platform;
  /** By method and path, such as `POST /chat/events`. */
  readonly routes: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => unknown>>;
  /** Begins to receive. Resolves even if the platform is down; it keeps trying then, and logs. */
  start?(): Promise<void>;
  /** Resolves when nothing more is received and every event under way is acknowledged. */
  stop?(): Promise<void>;
}

/** What a platform is opened with. */
export interface PlatformTools {
  /** Takes in the platform's events; may be called once the platform is started. */
  readonly accept: Accept;
  readonly log: Log;
  readonly clock: Clock;
  /** `PUBLIC_URL`, without a slash at its end; null: it is not set. */
  readonly publicUrl: string | null;
}

/** The settings of a platform that is to be connected. */
export interface PlatformSettings {
  /** Values that must never be logged. */
  readonly secrets: readonly string[];
  /** How the platform reaches the bot, for the greeting. `publicUrl`: where the world reaches the bot. */
  reached(publicUrl: string): string;
  /** Opens the connection, without receiving yet. */
  open(tools: PlatformTools): Promise<OpenPlatform>;
}

/** Names that people write in the config file: their form, and the advice if a name doesn't have it. */
export interface NameForm {
  readonly pattern: RegExp;
  readonly advice: string;
}

/** Environment variables by name. */
export type Given = Readonly<Record<string, string | undefined>>;

/** Returns the text of a file, null if there is none; throws if it can't be read. */
export type ReadFile = (path: string) => string | null;

/** A kind of platform, as its own folder describes it. `main.ts` lists them all; nothing else names one. */
export interface PlatformKind {
  /** The part of its places before the colon, and its key under `permissions` in the config file. */
  readonly name: string;
  /** Its name for people. */
  readonly title: string;
  /** The environment variables that it reads; no agent on this machine is given them. */
  readonly variables: readonly string[];
  /** The variables that connect it, for the greeting: what follows "set". */
  readonly toConnect: string;
  readonly facts: PlatformFacts;
  /** How the config file names its people. */
  readonly people: NameForm;
  /** How the config file names its scopes, and the keys `key` under which it does. */
  readonly scopes: NameForm & { readonly key: string; scopeOf(name: string): Scope };
  /** Reads its settings. null: it is not set up, or there are problems: sentences for people, without secrets. */
  read(
    environment: Given,
    readFile: ReadFile,
  ): { readonly settings: PlatformSettings | null; readonly problems: readonly string[] };
}

/** Where to look for missed events. */
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
