/** The Agent Runs API's client. It stands alone: it needs `fetch`, ky and zod, and nothing of the bot. */
import type { Calls } from "./calls/calls.ts";
import { type Call, callOf, type Reply } from "./http/reply.ts";
import type { AnyRequest, Expecting } from "./http/transport.ts";
import type { Tried } from "./http/tried.ts";
import { type CallOptions, checkTryOptions, defaultTries, type TryOptions } from "./http/try-options.ts";

/** Options of the client. The `TryOptions` are defaults, which each call may override. */
export interface AgentRunsClientOptions extends TryOptions {
  /** Ends in `/api/v1`, with or without a final slash. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Default: the global one. */
  readonly fetch?: typeof globalThis.fetch;
  /** Returns 0 to 1, for jitter. Default: `Math.random`. */
  readonly random?: () => number;
  /** Milliseconds since the epoch, to read a `Retry-After` date with. Default: `Date.now`. */
  readonly now?: () => number;
  /** Called after each try, for a log. What it throws is ignored. */
  readonly onTry?: (tried: Tried) => void;
}

/**
 * Every call rejects with an `AgentRunsError` (see `errors.ts`), whose `certainty` says whether a write may
 * have happened. Reads and cancels are retried. Other writes are retried only if the service certainly did
 * not accept them (no connection, 429), because the API has no idempotency key; if the outcome is unknown (no
 * whole answer, 5xx, 408), the error is an `AmbiguousOutcomeError`. A `Call` also gives the raw response:
 * `await client.fetch(id).withResponse()` is `{ data, status, headers, body }`.
 */
export type AgentRunsClient = ReturnType<typeof createAgentRunsClient>;

/** Returns a client of the API at `baseUrl`. Throws `TypeError` for an invalid option; sends nothing yet. */
export function createAgentRunsClient(options: AgentRunsClientOptions) {
  checkOptions(options);
  let loading: Promise<Calls> | undefined;
  // The first call loads the code that sends and reads. Importing it with the client would take 20 times as
  // long: 500 ms of CPU time instead of 25, on two busy cores (Node 26).
  function load(): Promise<Calls> {
    loading ??= import("./calls/calls.ts").then(
      ({ createCalls }) => createCalls(options),
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    );
    return loading;
  }
  const call =
    <A extends readonly unknown[], T>(pick: (calls: Calls) => (...args: A) => Promise<Reply<T>>) =>
    (...args: A): Call<T> =>
      callOf(load().then((calls) => pick(calls)(...args)));
  const plain =
    <A extends readonly unknown[], T>(pick: (calls: Calls) => (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> =>
      pick(await load())(...args);
  const each = <A extends readonly unknown[], T>(
    pick: (calls: Calls) => (...args: A) => AsyncGenerator<T, void, undefined>,
  ) =>
    async function* (...args: A): AsyncGenerator<T, void, undefined> {
      yield* pick(await load())(...args);
    };

  function request<T>(asked: AnyRequest & Expecting<T>, callOptions?: CallOptions): Call<T>;
  function request(asked: AnyRequest, callOptions?: CallOptions): Call<unknown>;
  function request(
    asked: AnyRequest & Partial<Expecting<unknown>>,
    callOptions?: CallOptions,
  ): Call<unknown> {
    return callOf(load().then((calls) => calls.request(asked, callOptions)));
  }

  return {
    /** Creates a run. */
    create: call(({ create }) => create),
    /**
     * One page of runs, most recently updated first unless the query says otherwise, with the time of the answer
     * by the service's clock.
     */
    list: call(({ list }) => list),
    /** Every run that matches the query, page after page; `limit` is the size of a page. */
    listAll: each(({ listAll }) => listAll),
    /** One run, by its id. */
    fetch: call(({ fetch }) => fetch),
    /** Steers a run, or continues an ended one. Resolves when the service has accepted the message. */
    followUp: call(({ followUp }) => followUp),
    /**
     * Cancels a run that is queued or in progress; resolves with its id. If one try breaks off and the next
     * fails because the run has ended (400), the first may have ended it.
     */
    cancel: call(({ cancel }) => cancel),
    /** What was said in a run, and its agent's steps; rejects with `NotFoundError` while there is nothing. */
    conversation: call(({ conversation }) => conversation),
    /** The same by the conversation's id, which several runs may share. */
    conversationById: call(({ conversationById }) => conversationById),
    /** The transcript of a run as its agent's own program wrote it. A redirect gets the call's `headers`, too. */
    transcript: call(({ transcript }) => transcript),
    /** The texts of user and assistant, oldest first; none while there is no transcript, null if its format is not supported. */
    messages: plain(({ messages }) => messages),

    /** A plan's text, or where a file of a run can be downloaded for a while; an artifact's data has the uid. */
    artifact: call(({ artifact }) => artifact),
    /** The conversation that an ended session leads to; without an id if the session is still its own page. */
    sessionRedirect: call(({ sessionRedirect }) => sessionRedirect),

    /** The environments a run can use: `uid` goes into `config.environment_id`. */
    environments: call(({ environments }) => environments),
    /** The models a run can use: `id` goes into `config.model_id`. */
    models: call(({ models }) => models),
    /** The skills a run can start from: a variant's `id` goes into `skill`. */
    skills: call(({ skills }) => skills),

    /** One page of factories. */
    factories: call(({ factories }) => factories),
    /** Every factory that matches the query, page after page. */
    allFactories: each(({ allFactories }) => allFactories),
    /** One factory, by its uid. */
    factory: call(({ factory }) => factory),
    /**
     * The uid of the factory with this uid, alias or name (an alias goes before a name, and case does not
     * matter); null if there is none. Rejects with `AmbiguousFactoryError` if several have it.
     */
    findFactory: plain(({ findFactory }) => findFactory),
    /** Sends a prompt to a factory, which makes an ordinary run of it. */
    dispatchToFactory: call(({ dispatchToFactory }) => dispatchToFactory),

    /**
     * Any endpoint, with the same authentication, retries and errors. Without a schema the answer is parsed
     * JSON, the text if it is not JSON, or undefined if it is empty.
     */
    request,
  };
}

/** `fetch` would repeat a URL's credentials, or an invalid key, in the message of its own error. */
function checkOptions(options: AgentRunsClientOptions): void {
  const url = parseUrl(options.baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new TypeError("baseUrl is not an http(s) URL");
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError("baseUrl has credentials, a query or a fragment");
  }
  if (!/^[\x21-\x7e]+$/.test(options.apiKey)) {
    throw new TypeError("apiKey may only contain visible ASCII characters");
  }
  checkTryOptions({ ...defaultTries, ...options }, (detail) => new TypeError(detail));
}

/** `URL.parse` is newer than `fetch`. */
function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
