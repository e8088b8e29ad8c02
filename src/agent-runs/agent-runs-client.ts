/** What the client offers; `client.ts` makes one. */
import type { Call } from "./reply.ts";
import type {
  AnyRequest,
  CallOptions,
  Expecting,
  FollowUp,
  NewFactoryRun,
  NewRun,
  TryOptions,
} from "./requests.ts";
import type * as schema from "./schema.ts";
import type { SpokenText } from "./transcript.ts";

/**
 * Every call rejects with an `AgentRunsError` (see `errors.ts`), whose `certainty` tells whether a write may
 * have happened. Reads and cancels are retried; the other writes only if they surely were not taken in (no
 * connection, 429, 503 with `Retry-After`), because the API has no idempotency key. Where nobody can tell
 * whether such a write was done, the error is an `AmbiguousOutcomeError`. A `Call` tells the raw answer too:
 * `await client.fetch(id).withResponse()` is `{ data, status, headers, body }`.
 */
export interface AgentRunsClient {
  /** Creates a run. */
  create(run: NewRun, options?: CallOptions): Call<schema.CreateResponse>;
  /** One page of runs, newest update first unless the query says otherwise. */
  list(query?: schema.ListQuery, options?: CallOptions): Call<schema.ListResponse>;
  /** Every run that the query finds, page after page; `limit` is the size of a page. */
  listAll(query?: schema.ListQuery, options?: CallOptions): AsyncGenerator<schema.RunItem, void, undefined>;
  fetch(runId: string, options?: CallOptions): Call<schema.RunItem>;
  /** Steers a run, or continues an ended one. Resolves when the service has accepted the message. */
  followUp(runId: string, followUp: FollowUp, options?: CallOptions): Call<void>;
  /**
   * Cancels a run that is queued or in progress; resolves with its id. If a try broke off and the next one is
   * told that the run has ended (400), the first may have been what ended it.
   */
  cancel(runId: string, options?: CallOptions): Call<string>;
  /** The run's transcript as it is; rejects with `NotFoundError` while there is none. */
  conversation(runId: string, options?: CallOptions): Call<schema.Conversation>;
  /** What user and assistant said, oldest first; null while there is no transcript, or none that can be read. */
  messages(runId: string, options?: CallOptions): Promise<SpokenText[] | null>;

  /** What a run can be made in: `uid` goes into `config.environment_id`. */
  environments(query?: schema.EnvironmentsQuery, options?: CallOptions): Call<schema.EnvironmentsResponse>;
  /** What a run can think with: `id` goes into `config.model_id`. */
  models(options?: CallOptions): Call<schema.ModelsResponse>;
  /** What a run can be started from: a variant's `id` goes into `skill`. */
  skills(query?: schema.SkillsQuery, options?: CallOptions): Call<schema.SkillsResponse>;

  /** One page of factories. */
  factories(query?: schema.FactoryQuery, options?: CallOptions): Call<schema.FactoryList>;
  /** Every factory that the query finds, page after page. */
  allFactories(
    query?: schema.FactoryQuery,
    options?: CallOptions,
  ): AsyncGenerator<schema.Factory, void, undefined>;
  factory(uid: string, options?: CallOptions): Call<schema.Factory>;
  /**
   * The uid of the factory with this uid, alias or name; null if there is none. Rejects with
   * `AmbiguousFactoryError` if several have that name.
   */
  findFactory(nameOrUid: string, options?: CallOptions): Promise<string | null>;
  /** Sends a prompt to a factory; what it makes is an ordinary run from then on. */
  dispatchToFactory(uid: string, run: NewFactoryRun, options?: CallOptions): Call<schema.FactoryRunResponse>;

  /**
   * Any endpoint, with the same authentication, retries and errors. Without a schema the answer is whatever it
   * is: JSON parsed, another text as it is, undefined for none.
   */
  request<T>(request: AnyRequest & Expecting<T>, options?: CallOptions): Call<T>;
  request(request: AnyRequest, options?: CallOptions): Call<unknown>;
}

/** How tries are made (`TryOptions`) are defaults here; each call may have its own. */
export interface AgentRunsClientOptions extends TryOptions {
  /** Ends in `/api/v1`, with or without a slash after it. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The global one if absent. */
  readonly fetch?: typeof globalThis.fetch;
  /** 0 to 1, for jitter. */
  readonly random?: () => number;
  /** Milliseconds since the epoch, for a `Retry-After` that is a date. */
  readonly now?: () => number;
}
