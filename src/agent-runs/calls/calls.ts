/** The requests and response readers of the client's calls, which `client.ts` documents. */
import { InvalidRequestError, NotFoundError, UnprocessableEntityError } from "../errors.ts";
import { parseHttpDate } from "../http/http-date.ts";
import { pages } from "../http/pages.ts";
import { accepted, asItIs, asJson, asText, checkRequest, type Reading } from "../http/read-answer.ts";
import type { Reply } from "../http/reply.ts";
import {
  type AnyRequest,
  createTransport,
  type Expecting,
  type TransportOptions,
} from "../http/transport.ts";
import { type CallOptions, defaultTries } from "../http/try-options.ts";
import * as schema from "../schema.ts";
import { createFactoryCalls } from "./factories.ts";
import { readerOf } from "./reader.ts";
import { type SpokenText, spokenTexts } from "./transcript.ts";

/** The calls, each with its whole reply. */
export type Calls = ReturnType<typeof createCalls>;

/** A page of runs. */
export type RunPage = schema.ListResponse & {
  /** Time of the answer by the service's own clock (`Date`), in milliseconds since the epoch. */
  readonly servedAt: number | undefined;
};

/** Creates the calls, with the defaults of `AgentRunsClientOptions`. */
export function createCalls(
  options: Partial<TransportOptions> & Pick<TransportOptions, "baseUrl" | "apiKey">,
) {
  const send = createTransport({ ...defaultTries, random: Math.random, now: Date.now, ...options });
  const created = asJson(schema.createResponse);
  const run = asJson(schema.runItem);
  const transcript = asJson(schema.conversation);
  const models = asJson(schema.modelsResponse);
  const artifact = asJson(schema.artifactResponse);
  const toConversation = asJson(schema.sessionRedirect);
  const listed = readerOf(send, ["agent", "runs"], schema.listResponse, schema.listQuery);

  const get = <T>(path: readonly string[], reading: Reading<T>, callOptions: CallOptions | undefined) =>
    send({ method: "GET", path, repeat: "read" }, reading, callOptions);

  async function list(query?: schema.ListQuery, callOptions?: CallOptions): Promise<Reply<RunPage>> {
    const reply = await listed(query, callOptions);
    return { ...reply, data: { ...reply.data, servedAt: parseHttpDate(reply.headers.get("date")) } };
  }

  const conversation = (runId: string, callOptions?: CallOptions): Promise<Reply<schema.Conversation>> =>
    get(["agent", "runs", runId, "conversation"], transcript, callOptions);

  return {
    list,
    conversation,
    environments: readerOf(
      send,
      ["agent", "environments"],
      schema.environmentsResponse,
      schema.environmentsQuery,
    ),
    skills: readerOf(send, ["agent"], schema.skillsResponse, schema.skillsQuery),
    models: (callOptions?: CallOptions) => get(["agent", "models"], models, callOptions),
    conversationById: (id: string, callOptions?: CallOptions) =>
      get(["agent", "conversations", id], transcript, callOptions),
    transcript: (runId: string, callOptions?: CallOptions) =>
      send(
        { method: "GET", path: ["agent", "runs", runId, "transcript"], repeat: "read", isFile: true },
        asText,
        callOptions,
      ),
    artifact: (uid: string, callOptions?: CallOptions) =>
      get(["agent", "artifacts", uid], artifact, callOptions),
    sessionRedirect: (sessionId: string, callOptions?: CallOptions) =>
      get(["agent", "sessions", sessionId, "redirect"], toConversation, callOptions),
    ...createFactoryCalls(send),

    async create(asked: schema.NewRun, callOptions?: CallOptions): Promise<Reply<schema.CreateResponse>> {
      checkRequest(schema.createRequest, asked, "The run's fields are invalid");
      if (!asked.prompt && !asked.skill && !asked.config?.skill_spec && !asked.config?.skills?.length) {
        throw new InvalidRequestError("A run needs a prompt or a skill.", ["prompt"]);
      }
      // The older of two paths: old and new services both know it.
      return send(
        { method: "POST", path: ["agent", "run"], body: asked, repeat: "once" },
        created,
        callOptions,
      );
    },

    async *listAll(query: schema.ListQuery = {}, callOptions?: CallOptions) {
      for await (const { runs } of pages(query, (each) => list(each, callOptions))) yield* runs;
    },

    fetch: (runId: string, callOptions?: CallOptions) => get(["agent", "runs", runId], run, callOptions),

    async followUp(
      runId: string,
      asked: schema.FollowUp,
      callOptions?: CallOptions,
    ): Promise<Reply<undefined>> {
      checkRequest(schema.followUpRequest, asked, "A follow-up needs a message");
      const path = ["agent", "runs", runId, "followups"];
      return send({ method: "POST", path, body: asked, repeat: "once" }, accepted(undefined), callOptions);
    },

    cancel: (runId: string, callOptions?: CallOptions) =>
      send(
        { method: "POST", path: ["agent", "runs", runId, "cancel"], repeat: "cancel" },
        accepted(runId),
        callOptions,
      ),

    async messages(runId: string, callOptions?: CallOptions): Promise<SpokenText[] | null> {
      try {
        return spokenTexts((await conversation(runId, callOptions)).data);
      } catch (error) {
        if (error instanceof NotFoundError) return [];
        if (error instanceof UnprocessableEntityError) return null;
        throw error;
      }
    },

    request(
      { repeatable, schema: expected, ...asked }: AnyRequest & Partial<Expecting<unknown>>,
      callOptions?: CallOptions,
    ) {
      const isRepeatable = repeatable ?? (asked.method === "GET" || asked.method === "HEAD");
      const reading = expected === undefined ? asItIs : asJson(expected);
      return send({ ...asked, repeat: isRepeatable ? "read" : "once" }, reading, callOptions);
    },
  };
}
