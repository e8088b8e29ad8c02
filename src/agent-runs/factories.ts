import { AmbiguousFactoryError, StatusError } from "./errors.ts";
import { checkRequest } from "./http/check-request.ts";
import { pages } from "./http/pages.ts";
import { encodeQuery } from "./http/query.ts";
import { asJson } from "./http/read-answer.ts";
import { isSegment, type Send } from "./http/transport.ts";
import type { Reply } from "./reply.ts";
import type { CallOptions, NewFactoryRun } from "./requests.ts";
import * as schema from "./schema.ts";

/** How a service says that something is no uid of a factory, or that it has no factories at all. */
const meansNone = new Set([400, 404, 422]);

/** `null` for an answer that means there is none. */
async function orNone<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof StatusError && error.status !== undefined && meansNone.has(error.status))
      return null;
    throw error;
  }
}

/** The calls of the separate factory API. */
export function createFactoryCalls(send: Send) {
  const one = asJson(schema.factory);
  const page = asJson(schema.factoryList);
  const dispatched = asJson(schema.factoryRunResponse);

  const factory = async (uid: string, options?: CallOptions): Promise<Reply<schema.Factory>> =>
    send({ method: "GET", path: ["factory", uid], repeat: "read" }, one, options);

  async function factories(
    query: schema.FactoryQuery = {},
    options?: CallOptions,
  ): Promise<Reply<schema.FactoryList>> {
    checkRequest(schema.factoryQuery, query, "The query is not one");
    return send(
      { method: "GET", path: ["factory"], query: encodeQuery(query), repeat: "read" },
      page,
      options,
    );
  }

  async function* allFactories(
    query: schema.FactoryQuery = {},
    options?: CallOptions,
  ): AsyncGenerator<schema.Factory, void, undefined> {
    const load = async (cursor: string | undefined) =>
      (await factories(cursor === undefined ? query : { ...query, cursor }, options)).data;
    for await (const { factories: found } of pages(load)) yield* found;
  }

  async function everyFactory(search: string, options?: CallOptions): Promise<schema.Factory[]> {
    const found: schema.Factory[] = [];
    for await (const each of allFactories({ search }, options)) found.push(each);
    return found;
  }

  /**
   * The uid of the factory that has this uid, this alias or this name (an alias goes before a name, and case
   * does not matter); null if there is none. Throws `AmbiguousFactoryError` if several have it.
   */
  async function findFactory(nameOrUid: string, options?: CallOptions): Promise<string | null> {
    const wanted = nameOrUid.trim();
    if (wanted === "") return null;
    if (isSegment(wanted)) {
      const byUid = await orNone(factory(wanted, options));
      if (byUid !== null) return byUid.data.uid;
    }
    // The service's search finds parts of names too.
    const found = (await orNone(everyFactory(wanted, options))) ?? [];
    const same = (text: string | null | undefined) => text?.toLowerCase() === wanted.toLowerCase();
    const byAlias = found.filter((each) => same(each.alias) || each.aliases?.some(same));
    const matches = byAlias.length > 0 ? byAlias : found.filter((each) => same(each.name));
    const [uid, ...others] = new Set(matches.map((each) => each.uid));
    if (others.length === 0) return uid ?? null;
    throw new AmbiguousFactoryError({
      certainty: "not-sent",
      retryable: false,
      reason: `Several factories are called "${wanted}"; name one by its uid.`,
    });
  }

  async function dispatchToFactory(
    uid: string,
    run: NewFactoryRun,
    options?: CallOptions,
  ): Promise<Reply<schema.FactoryRunResponse>> {
    const json = typeof run === "string" ? { prompt: run } : run;
    checkRequest(schema.factoryRunRequest, json, "A factory needs a prompt");
    return send(
      { method: "POST", path: ["factory", uid, "runs"], json, repeat: "once" },
      dispatched,
      options,
    );
  }

  return { factory, factories, allFactories, findFactory, dispatchToFactory };
}
