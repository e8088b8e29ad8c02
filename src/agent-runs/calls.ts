/** What each call sends, and what it makes of the answer. `client.ts` loads this with the first call. */
import type { z } from "zod";
import type { AgentRunsClientOptions } from "./agent-runs-client.ts";
import { InvalidRequestError, NotFoundError, UnprocessableEntityError } from "./errors.ts";
import { createFactoryCalls } from "./factories.ts";
import { checkRequest } from "./http/check-request.ts";
import { pages } from "./http/pages.ts";
import { encodeQuery } from "./http/query.ts";
import { accepted, asItIs, asJson } from "./http/read-answer.ts";
import type { Repeat } from "./http/retry.ts";
import { createTransport } from "./http/transport.ts";
import { defaultTries } from "./http/try-options.ts";
import type { Reply } from "./reply.ts";
import type { AnyRequest, CallOptions, Expecting, FollowUp, NewRun, QueryValue } from "./requests.ts";
import * as schema from "./schema.ts";
import { type SpokenText, spokenTexts } from "./transcript.ts";

export type Calls = ReturnType<typeof createCalls>;

/** The calls of `AgentRunsClient`, each with its whole reply. */
export function createCalls(options: AgentRunsClientOptions) {
  const send = createTransport({
    baseUrl: options.baseUrl,
    apiKey: options.apiKey,
    fetch: options.fetch,
    timeoutMs: options.timeoutMs ?? defaultTries.timeoutMs,
    retries: options.retries ?? defaultTries.retries,
    backoffMs: options.backoffMs ?? defaultTries.backoffMs,
    maxBackoffMs: options.maxBackoffMs ?? defaultTries.maxBackoffMs,
    maxRetryAfterMs: options.maxRetryAfterMs ?? defaultTries.maxRetryAfterMs,
    random: options.random ?? Math.random,
    now: options.now ?? Date.now,
  });

  /** A read of one endpoint, whose query has these rules. */
  function read<T, Q extends Readonly<Record<string, QueryValue>>>(
    path: readonly string[],
    answer: z.ZodType<T>,
    rules: z.ZodType<Q>,
  ) {
    const reading = asJson(answer);
    return async (query: Q | undefined, callOptions?: CallOptions): Promise<Reply<T>> => {
      if (query !== undefined) checkRequest(rules, query, "The query is not one");
      return send(
        { method: "GET", path, query: encodeQuery(query ?? {}), repeat: "read" },
        reading,
        callOptions,
      );
    };
  }

  const created = asJson(schema.createResponse);
  const run = asJson(schema.runItem);
  const transcript = asJson(schema.conversation);
  const models = asJson(schema.modelsResponse);
  const list = read(["agent", "runs"], schema.listResponse, schema.listQuery);

  async function conversation(runId: string, callOptions?: CallOptions): Promise<Reply<schema.Conversation>> {
    const path = ["agent", "runs", runId, "conversation"];
    return send({ method: "GET", path, repeat: "read" }, transcript, callOptions);
  }

  return {
    list,
    conversation,
    environments: read(["agent", "environments"], schema.environmentsResponse, schema.environmentsQuery),
    skills: read(["agent"], schema.skillsResponse, schema.skillsQuery),
    models: (callOptions?: CallOptions) =>
      send({ method: "GET", path: ["agent", "models"], repeat: "read" }, models, callOptions),
    ...createFactoryCalls(send),

    async create(asked: NewRun, callOptions?: CallOptions): Promise<Reply<schema.CreateResponse>> {
      checkRequest(schema.createRequest, asked, "The run that was asked for is not one");
      if (!asked.prompt && !asked.skill && !asked.config?.skill_spec && !asked.config?.skills?.length) {
        throw new InvalidRequestError("A run needs a prompt or a skill.", ["prompt"]);
      }
      // The older of two paths, since services of either age know it.
      return send(
        { method: "POST", path: ["agent", "run"], json: asked, repeat: "once" },
        created,
        callOptions,
      );
    },

    async *listAll(query: schema.ListQuery = {}, callOptions?: CallOptions) {
      const load = async (cursor: string | undefined) =>
        (await list(cursor === undefined ? query : { ...query, cursor }, callOptions)).data;
      for await (const page of pages(load)) yield* page.runs;
    },

    async fetch(runId: string, callOptions?: CallOptions): Promise<Reply<schema.RunItem>> {
      return send({ method: "GET", path: ["agent", "runs", runId], repeat: "read" }, run, callOptions);
    },

    async followUp(runId: string, asked: FollowUp, callOptions?: CallOptions): Promise<Reply<void>> {
      checkRequest(schema.followUpRequest, asked, "A follow-up needs a message");
      const path = ["agent", "runs", runId, "followups"];
      return send(
        { method: "POST", path, json: asked, repeat: "once" },
        accepted<void>(undefined),
        callOptions,
      );
    },

    async cancel(runId: string, callOptions?: CallOptions): Promise<Reply<string>> {
      const path = ["agent", "runs", runId, "cancel"];
      return send({ method: "POST", path, repeat: "cancel" }, accepted(runId), callOptions);
    },

    async messages(runId: string, callOptions?: CallOptions): Promise<SpokenText[] | null> {
      try {
        return spokenTexts((await conversation(runId, callOptions)).data);
      } catch (error) {
        if (error instanceof NotFoundError || error instanceof UnprocessableEntityError) return null;
        throw error;
      }
    },

    async request(asked: AnyRequest & Partial<Expecting<unknown>>, callOptions?: CallOptions) {
      const { method, path, query, body, schema: expected } = asked;
      const isRead = method === "GET" || method === "HEAD";
      const repeat: Repeat = (asked.repeatable ?? isRead) ? "read" : "once";
      return send(
        { method, path, query: encodeQuery(query ?? {}), json: body, repeat },
        expected === undefined ? asItIs : asJson(expected),
        callOptions,
      );
    },
  };
}
