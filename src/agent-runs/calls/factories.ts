import { AmbiguousFactoryError, StatusError } from "../errors.ts";
import { pages } from "../http/pages.ts";
import { asJson, checkRequest } from "../http/read-answer.ts";
import type { Reply } from "../http/reply.ts";
import { isSegment, type Send } from "../http/transport.ts";
import type { CallOptions } from "../http/try-options.ts";
import * as schema from "../schema.ts";
import { readerOf } from "./reader.ts";

/** The statuses for an unknown uid, and of a service without factories. */
const meansNone = new Set<number | undefined>([400, 404, 422]);

/** Resolves with null if there is none. */
async function orNone<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof StatusError && meansNone.has(error.status)) return null;
    throw error;
  }
}

/** The calls of the separate factory API. */
export function createFactoryCalls(send: Send) {
  const one = asJson(schema.factory);
  const dispatched = asJson(schema.factoryRunResponse);
  const factories = readerOf(send, ["factory"], schema.factoryList, schema.factoryQuery);

  const factory = (uid: string, options?: CallOptions): Promise<Reply<schema.Factory>> =>
    send({ method: "GET", path: ["factory", uid], repeat: "read" }, one, options);

  async function* allFactories(query: schema.FactoryQuery = {}, options?: CallOptions) {
    for await (const page of pages(query, (each) => factories(each, options))) yield* page.factories;
  }

  async function everyFactory(search: string, options?: CallOptions): Promise<schema.Factory[]> {
    const found: schema.Factory[] = [];
    for await (const each of allFactories({ search }, options)) found.push(each);
    return found;
  }

  async function findFactory(nameOrUid: string, options?: CallOptions): Promise<string | null> {
    const wanted = nameOrUid.trim();
    if (wanted === "") return null;
    if (isSegment(wanted)) {
      const byUid = await orNone(factory(wanted, options));
      if (byUid !== null) return byUid.data.uid;
    }
    // The service's search also finds parts of names.
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
    run: schema.NewFactoryRun,
    options?: CallOptions,
  ): Promise<Reply<schema.FactoryRunResponse>> {
    const body = typeof run === "string" ? { prompt: run } : run;
    checkRequest(schema.factoryRunRequest, body, "A factory needs a prompt");
    return send(
      { method: "POST", path: ["factory", uid, "runs"], body, repeat: "once" },
      dispatched,
      options,
    );
  }

  return { factory, factories, allFactories, findFactory, dispatchToFactory };
}
