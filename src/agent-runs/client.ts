/** The Agent Runs API's client. Stands alone: it needs `fetch`, ky and zod, and nothing of the bot. */
import type { AgentRunsClient, AgentRunsClientOptions } from "./agent-runs-client.ts";
import type { Calls } from "./calls.ts";
import { checkTryOptions } from "./http/try-options.ts";
import { type Call, callOf, type Reply } from "./reply.ts";
import type { AnyRequest, CallOptions, Expecting } from "./requests.ts";

export type { AgentRunsClient, AgentRunsClientOptions } from "./agent-runs-client.ts";

/** Fetch would repeat a URL's credentials, or an unfit key, in the message of its own error. */
function checkOptions(options: AgentRunsClientOptions): void {
  const url = parseUrl(options.baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new TypeError("baseUrl is not an http(s) URL");
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError("baseUrl has credentials, a query or a fragment");
  }
  if (!/^[\x21-\x7e]+$/.test(options.apiKey)) {
    throw new TypeError("apiKey is not of visible ASCII characters alone");
  }
  checkTryOptions(options, (detail) => new TypeError(detail));
}

/** `URL.parse` is younger than `fetch`. */
function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** A client of the API at `baseUrl`. Throws `TypeError` if an option is unfit; sends nothing yet. */
export function createAgentRunsClient(options: AgentRunsClientOptions): AgentRunsClient {
  checkOptions(options);
  let loading: Promise<Calls> | undefined;
  // What sends and reads is loaded with the first call: a program that makes none should not wait for it.
  async function load(): Promise<Calls> {
    try {
      const { createCalls } = await import("./calls.ts");
      return createCalls(options);
    } catch (error) {
      loading = undefined;
      throw error;
    }
  }
  const calls = (): Promise<Calls> => {
    loading ??= load();
    return loading;
  };
  const call = <T>(make: (calls: Calls) => Promise<Reply<T>>): Call<T> => callOf(calls().then(make));

  function request<T>(asked: AnyRequest & Expecting<T>, callOptions?: CallOptions): Call<T>;
  function request(asked: AnyRequest, callOptions?: CallOptions): Call<unknown>;
  function request(
    asked: AnyRequest & Partial<Expecting<unknown>>,
    callOptions?: CallOptions,
  ): Call<unknown> {
    return call((each) => each.request(asked, callOptions));
  }

  return {
    create: (run, callOptions) => call((each) => each.create(run, callOptions)),
    list: (query, callOptions) => call((each) => each.list(query, callOptions)),
    async *listAll(query, callOptions) {
      yield* (await calls()).listAll(query, callOptions);
    },
    fetch: (runId, callOptions) => call((each) => each.fetch(runId, callOptions)),
    followUp: (runId, followUp, callOptions) => call((each) => each.followUp(runId, followUp, callOptions)),
    cancel: (runId, callOptions) => call((each) => each.cancel(runId, callOptions)),
    conversation: (runId, callOptions) => call((each) => each.conversation(runId, callOptions)),
    messages: async (runId, callOptions) => (await calls()).messages(runId, callOptions),

    environments: (query, callOptions) => call((each) => each.environments(query, callOptions)),
    models: (callOptions) => call((each) => each.models(callOptions)),
    skills: (query, callOptions) => call((each) => each.skills(query, callOptions)),

    factories: (query, callOptions) => call((each) => each.factories(query, callOptions)),
    async *allFactories(query, callOptions) {
      yield* (await calls()).allFactories(query, callOptions);
    },
    factory: (uid, callOptions) => call((each) => each.factory(uid, callOptions)),
    findFactory: async (nameOrUid, callOptions) => (await calls()).findFactory(nameOrUid, callOptions),
    dispatchToFactory: (uid, run, callOptions) =>
      call((each) => each.dispatchToFactory(uid, run, callOptions)),

    request,
  };
}
