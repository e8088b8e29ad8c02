/** The Agent Runs API's client. Stands alone: it needs `fetch`, ky and zod, and nothing of the bot. */
import { InvalidRequestError, NotFoundError, UnprocessableEntityError } from "./errors.ts";
import { findFactory } from "./factories.ts";
import { pages } from "./pages.ts";
import { listQuery } from "./query.ts";
import { readAnswer } from "./read-answer.ts";
import type { CallOptions, FollowUp, NewRun } from "./requests.ts";
import * as schema from "./schema.ts";
import { type SpokenText, spokenTexts } from "./transcript.ts";
import { createTransport } from "./transport.ts";

export interface AgentRunsClientOptions {
  /** Ends in `/api/v1`, with or without a slash after it. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Of each try; 60,000 if absent. */
  readonly timeoutMs?: number;
  /** Further tries after the first; 2 if absent. */
  readonly retries?: number;
  readonly fetch?: typeof globalThis.fetch;
  /** Pause before the first retry; 500 if absent. Each further one is twice as long, up to `maxBackoffMs`. */
  readonly backoffMs?: number;
  /** 8,000 if absent. */
  readonly maxBackoffMs?: number;
  /** If the service asks for a longer wait, the call rejects and leaves it to you; 30,000 if absent. */
  readonly maxRetryAfterMs?: number;
  /** 0 to 1, for jitter. */
  readonly random?: () => number;
  /** Milliseconds since the epoch, for a `Retry-After` that is a date. */
  readonly now?: () => number;
}

/**
 * Every call rejects with an `AgentRunsError` (see `errors.ts`), whose `certainty` tells whether a write may
 * have happened. Reads and cancels are retried; the other writes only if they surely never arrived, because
 * the API has no idempotency key.
 */
export interface AgentRunsClient {
  /** Creates a run. */
  create(run: NewRun, options?: CallOptions): Promise<schema.CreateResponse>;
  /** One page of runs, newest update first unless the query says otherwise. */
  list(query?: schema.ListQuery, options?: CallOptions): Promise<schema.ListResponse>;
  /** Every run that the query finds, page after page; `limit` is the size of a page. */
  listAll(query?: schema.ListQuery, options?: CallOptions): AsyncGenerator<schema.RunItem, void, undefined>;
  fetch(runId: string, options?: CallOptions): Promise<schema.RunItem>;
  /** Steers a run, or continues an ended one. Resolves when the service has accepted the message. */
  followUp(runId: string, followUp: FollowUp, options?: CallOptions): Promise<void>;
  /**
   * Cancels a run that is queued or in progress; resolves with its id. If a try broke off and the next one is
   * told that the run has ended (400), the first may have been what ended it.
   */
  cancel(runId: string, options?: CallOptions): Promise<string>;
  /** The run's transcript as it is; rejects with `NotFoundError` while there is none. */
  conversation(runId: string, options?: CallOptions): Promise<schema.Conversation>;
  /** What user and assistant said, oldest first; null while there is no transcript, or none that can be read. */
  messages(runId: string, options?: CallOptions): Promise<SpokenText[] | null>;
  /** The uid of the factory with this uid, alias or name; null if there is none. */
  findFactory(nameOrUid: string, options?: CallOptions): Promise<string | null>;
  /** Sends a prompt to a factory; what it makes is an ordinary run from then on. */
  dispatchToFactory(uid: string, prompt: string, options?: CallOptions): Promise<schema.CreateResponse>;
}

function invalid(detail: string, cause?: unknown): InvalidRequestError {
  return new InvalidRequestError({ certainty: "not-sent", retryable: false, detail }, { cause });
}

/** Fetch would repeat a URL's credentials, or an unfit key, in the message of its own error. */
function checkOptions({ baseUrl, apiKey }: AgentRunsClientOptions): void {
  const url = URL.parse(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new TypeError("baseUrl is not an http(s) URL");
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError("baseUrl has credentials, a query or a fragment");
  }
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError("apiKey is not of visible ASCII characters alone");
}

/** A client of the API at `baseUrl`. Throws `TypeError` if an option is unfit; sends nothing yet. */
export function createAgentRunsClient(options: AgentRunsClientOptions): AgentRunsClient {
  checkOptions(options);
  const send = createTransport({
    baseUrl: options.baseUrl,
    apiKey: options.apiKey,
    timeoutMs: options.timeoutMs ?? 60_000,
    retries: options.retries ?? 2,
    fetch: options.fetch,
    backoffMs: options.backoffMs ?? 500,
    maxBackoffMs: options.maxBackoffMs ?? 8_000,
    maxRetryAfterMs: options.maxRetryAfterMs ?? 30_000,
    random: options.random ?? Math.random,
    now: options.now ?? Date.now,
  });

  const client: AgentRunsClient = {
    async create(run, callOptions) {
      const request = schema.createRequest.safeParse(run);
      if (!request.success) throw invalid("The run that was asked for is not one.", request.error);
      const { prompt, skill, config } = request.data;
      if (!prompt && !skill && !config?.skill_spec) throw invalid("A run needs a prompt or a skill.");
      // The older of two paths, since services of either age know it.
      const call = { method: "post", path: ["agent", "run"], json: run, repeat: "once" } as const;
      return readAnswer(await send(call, callOptions), schema.createResponse, "once");
    },

    async list(query = {}, callOptions) {
      const call = {
        method: "get",
        path: ["agent", "runs"],
        query: listQuery(query),
        repeat: "read",
      } as const;
      return readAnswer(await send(call, callOptions), schema.listResponse, "read");
    },

    async *listAll(query = {}, callOptions) {
      const load = (cursor: string | undefined) =>
        client.list(cursor === undefined ? query : { ...query, cursor }, callOptions);
      for await (const page of pages(load)) yield* page.runs;
    },

    async fetch(runId, callOptions) {
      const call = { method: "get", path: ["agent", "runs", runId], repeat: "read" } as const;
      return readAnswer(await send(call, callOptions), schema.runItem, "read");
    },

    async followUp(runId, followUp, callOptions) {
      const request = schema.followUpRequest.safeParse(followUp);
      if (!request.success) throw invalid("A follow-up needs a message.", request.error);
      const path = ["agent", "runs", runId, "followups"];
      await send({ method: "post", path, json: followUp, repeat: "once", bodyless: true }, callOptions);
    },

    async cancel(runId, callOptions) {
      const path = ["agent", "runs", runId, "cancel"];
      await send({ method: "post", path, repeat: "cancel", bodyless: true }, callOptions);
      return runId;
    },

    async conversation(runId, callOptions) {
      const path = ["agent", "runs", runId, "conversation"];
      const answer = await send({ method: "get", path, repeat: "read" }, callOptions);
      return readAnswer(answer, schema.conversation, "read");
    },

    async messages(runId, callOptions) {
      try {
        return spokenTexts(await client.conversation(runId, callOptions));
      } catch (error) {
        if (error instanceof NotFoundError || error instanceof UnprocessableEntityError) return null;
        throw error;
      }
    },

    findFactory: (nameOrUid, callOptions) => findFactory(send, nameOrUid, callOptions),

    async dispatchToFactory(uid, prompt, callOptions) {
      if (prompt.trim() === "") throw invalid("A factory needs a prompt.");
      const path = ["factory", uid, "runs"];
      const answer = await send({ method: "post", path, json: { prompt }, repeat: "once" }, callOptions);
      return readAnswer(answer, schema.createResponse, "once");
    },
  };
  return client;
}
