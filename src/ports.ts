/** The ports: the engine's interfaces to the API, the platforms, the store and the clock. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log } from "#base/log.ts";
import type { TranscriptMessage } from "#core/answer.ts";
import type { PlatformEffect } from "#core/effect.ts";
import type { PersonEvent, PlatformEvent } from "#core/event.ts";
import type { Fault, Outcome } from "#core/outcome.ts";
import type { Place, Ref, RunId, Scope } from "#core/place.ts";
import type { PlatformFacts } from "#core/policy.ts";
import type { CreateRequest, Run } from "#core/run.ts";
import type { Thread } from "#core/thread.ts";

/**
 * The Agent Runs API. A failed call rejects with an Error that has the fields of `ApiFault`; any other error
 * counts as a defect: retryable, with an unknown outcome.
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
  readonly created_before?: string;
  /** RFC 3339. */
  readonly updated_after?: string;
  /** Only runs with these pairs; services may ignore it. */
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface RunPage {
  readonly runs: readonly Run[];
  readonly page_info: { readonly has_next_page: boolean; readonly next_cursor?: string | null | undefined };
  /** Time of the response by the service's clock, in milliseconds since the epoch; absent if it gives none. */
  readonly servedAt?: number | undefined;
}

/** A run's conversation, as text. Rejects like `AgentRuns`. */
export interface Transcripts {
  /** Resolves with the user and assistant texts, oldest first; null: the run's conversation will never be readable. */
  messages(runId: RunId): Promise<readonly TranscriptMessage[] | null>;
}

/** The separate factory API. Rejects like `AgentRuns`. */
export interface Factories {
  /** Resolves with the uid of the factory that has this uid, name or alias; null if there is none. */
  findFactory(nameOrUid: string): Promise<string | null>;
  dispatchToFactory(uid: string, prompt: string): Promise<{ readonly run_id: RunId; readonly state: string }>;
}

/** Fields of the errors that the three ports above reject with. */
export interface ApiFault extends Fault {
  /** HTTP status; absent if no response arrived. */
  readonly status?: number | undefined;
}

/** How to try an effect. */
export interface Attempt {
  /** An earlier try may have succeeded: search for the effect's id first, and act only if it isn't found. */
  readonly uncertain: boolean;
  /**
   * Milliseconds until the settling time is over. Before that, the absence of an earlier try proves nothing: the
   * outcome is then `stillSettling`.
   */
  readonly settlesInMs: number;
  /**
   * Milliseconds since before the first try, by `Clock.elapsed`, which may stand while the machine sleeps. Absent: another
   * process may have tried it first, and our clock may have been set since.
   */
  readonly ageMs?: number;
}

/** A limit that an effect keeps before it is performed, so that the platform need not refuse it. */
export interface Pace {
  /** Effects of the same platform and key share the limit. */
  readonly key: string;
  /** At most `count` effects begin within `perMs`. */
  readonly count: number;
  readonly perMs: number;
}

/** One platform's sending side. */
export interface Platform {
  /** The part of its places before the colon. */
  readonly name: string;
  /** Within this time everything that it performed appears in its lists; 0 if absent. */
  readonly settlingMs?: number;
  /** Returns the paces that the effect keeps; none if absent. */
  paces?(effect: PlatformEffect): readonly Pace[];
  /** Performs one effect. Never rejects: a failure is an outcome. */
  perform(effect: PlatformEffect, attempt: Attempt): Promise<Outcome>;
  /** Resolves if the platform accepts our credentials; rejects with a sentence if it does not. */
  check(): Promise<void>;
  /**
   * Recovers missed events: has the platform redeliver them, or reads them back. Resolves with the events it
   * read back, oldest first; some may already be saved. Rejects with a sentence if it can't search.
   */
  missed?(look: Missed): Promise<readonly PlatformEvent[]>;
}

/** A platform whose connection is open. */
export interface OpenPlatform {
  readonly platform: Platform;
  /**
   * By method and path, such as `POST /chat/events`. `waitedMs`: how long the request has already waited while the
   * bot was starting.
   */
  readonly routes: Readonly<
    Record<string, (request: IncomingMessage, response: ServerResponse, waitedMs: number) => unknown>
  >;
  /** Starts receiving. Resolves even if the platform is down: it then logs and keeps trying. */
  start?(): Promise<void>;
  /** Returns whether it is still connecting after `start`, so that it receives nothing yet; absent: it is not. */
  connecting?(): boolean;
  /** Stops receiving; resolves when every received event is acknowledged. */
  stop?(): Promise<void>;
}

/** The bot's side of a platform's connection. */
export interface PlatformTools {
  /** Receives the platform's events; may be called once the platform is started. */
  readonly accept: Accept<PlatformEvent>;
  readonly log: Log;
  readonly clock: Clock;
  /** `PUBLIC_URL` without a trailing slash; null if it is not set. */
  readonly publicUrl: string | null;
}

/** The valid settings of a platform that people have set up. */
export interface PlatformSettings {
  /** Values that must never be logged. */
  readonly secrets: readonly string[];
  /** Says for the greeting how the platform reaches the bot, whose public address is `publicUrl`. */
  reached(publicUrl: string): string;
  /** Opens the connection; `start` begins to receive. */
  open(tools: PlatformTools): Promise<OpenPlatform>;
}

/** The form of names in the config file, and the advice for a name that doesn't match it. */
export interface NameForm {
  readonly pattern: RegExp;
  readonly advice: string;
}

/** Environment variables by name. */
export type Given = Readonly<Record<string, string | undefined>>;

/** Returns the file's text, or null if there is no file; throws if it can't be read. */
export type ReadFile = (path: string) => string | null;

/** A supported platform, described by its own folder. Only `main.ts` lists them. */
export interface PlatformKind {
  /** The part of its places before the colon, and its key under `permissions` in the config file. */
  readonly name: string;
  /** Display name. */
  readonly title: string;
  /** Environment variables that it reads; agents on this machine don't get them. */
  readonly variables: readonly string[];
  /** The variables to set to connect it, as the greeting lists them after "set". */
  readonly toConnect: string;
  readonly facts: PlatformFacts;
  /** How long its server waits for an answer, in milliseconds, by path; absent if it sends no requests. */
  readonly answerWithinMs?: Readonly<Record<string, number>>;
  /** Names of its people in the config file. */
  readonly people: NameForm;
  /** Names of its scopes in the config file, where `key` is the setting that lists them. */
  readonly scopes: NameForm & { readonly key: string; scopeOf(name: string): Scope };
  /** Returns its settings (null if not set up or invalid) and the problems: sentences without secrets. */
  read(
    environment: Given,
    readFile: ReadFile,
  ): { readonly settings: PlatformSettings | null; readonly problems: readonly string[] };
}

/** The range of a search for missed events. */
export interface Missed {
  /** RFC 3339, by our clock; all earlier events are saved. */
  readonly since: string;
  /** Places of this platform where a run is unfinished. */
  readonly places: readonly Place[];
  /** Places of this platform with a sign of life in the last days, the most recent first; absent: none. */
  readonly lively?: readonly Place[];
  /** Scopes of this platform that have ever sent an event. */
  readonly scopes: readonly Scope[];
  /** The text that the platform kept last, for example how far it has read; absent or null: none. */
  readonly kept?: string | null;
  /**
   * Has the text saved after the events of this search, for the next one. `moreInMs`: a limit stopped this search,
   * and the next one may begin after this time. `without` returns the text by which the next search finds these of its
   * events again, which came before their threads were saved; absent: the whole search is repeated.
   */
  readonly keep?: (
    text: string,
    moreInMs?: number,
    without?: (events: readonly PlatformEvent[]) => string,
  ) => void;
  /**
   * Tells what can't be read back, one sentence each, in place of what was told before; an empty list: nothing is
   * missing as far as this search shows.
   */
  readonly tellGaps?: (gaps: readonly string[]) => void;
}

/** Short texts that are saved beside the threads. Both methods reject like the store. */
export interface Notes {
  /** Resolves with the saved text, or null. Names consist of letters, digits and dashes. */
  note(name: string): Promise<string | null>;
  /** Replaces the text under the name; resolves when it is durable. */
  keepNote(name: string, text: string): Promise<void>;
}

export interface Store {
  /**
   * Applies the pure function `fn` to the ref's thread (null if there is none), one change of a thread at a
   * time, and resolves with its `result` when the returned thread is durable. Returning the same thread, or
   * null, writes nothing. If it rejects, nothing has changed.
   */
  change<T>(ref: Ref, fn: (thread: Thread | null) => { thread: Thread | null; result: T }): Promise<T>;
  /** Resolves with the ref's thread, or null if there is none; rejects if it can't be read. */
  find(ref: Ref): Promise<Thread | null>;
  /**
   * Threads with an effect to perform or an unfinished run. If some can't be read for now, it throws an Error with
   * the field `leftOut`, their number, after the others.
   */
  unsettled(): AsyncIterable<Thread>;
}

export interface Clock {
  /** Milliseconds since the epoch. The clock may be set at any time. */
  now(): number;
  /** Milliseconds since a fixed moment of this process; nobody can set this clock, but it may stop while the machine sleeps. */
  elapsed(): number;
  /** Calls `then` once, after at least `ms`; the returned function cancels the call. */
  after(ms: number, then: () => void): () => void;
  /** 0 to 1, for jitter. */
  random(): number;
}

/**
 * Saves an event. `ignored`: not for the bot. After `again` or a rejection, it must be redelivered. An event that comes
 * before its own thread is saved waits for that up to `patienceMs` (0 if absent), then the answer is `again`.
 */
export type Accept<E extends PlatformEvent = PersonEvent> = (
  event: E,
  patienceMs?: number,
) => Promise<"saved" | "ignored" | "again">;
