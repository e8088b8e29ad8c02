import { AmbiguousFactoryError, StatusError } from "./errors.ts";
import { pages } from "./pages.ts";
import { readAnswer } from "./read-answer.ts";
import type { CallOptions } from "./requests.ts";
import { type Factory, factory, factoryList } from "./schema.ts";
import { isSegment, type Send } from "./transport.ts";

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

const byUid = async (send: Send, uid: string, options?: CallOptions): Promise<string> =>
  readAnswer(await send({ method: "get", path: ["factory", uid], repeat: "read" }, options), factory, "read")
    .uid;

/** The service's search finds parts of names too; the caller picks. */
async function search(send: Send, wanted: string, options?: CallOptions): Promise<Factory[]> {
  const found: Factory[] = [];
  const load = async (cursor: string | undefined) => {
    const query = new URLSearchParams({ search: wanted, ...(cursor !== undefined && { cursor }) }).toString();
    return readAnswer(
      await send({ method: "get", path: ["factory"], query, repeat: "read" }, options),
      factoryList,
      "read",
    );
  };
  for await (const page of pages(load)) found.push(...page.factories);
  return found;
}

/**
 * The uid of the factory that has this uid, this alias or this name (an alias goes before a name, and case
 * does not matter); null if there is none. Throws `AmbiguousFactoryError` if several have it.
 */
export async function findFactory(
  send: Send,
  nameOrUid: string,
  options?: CallOptions,
): Promise<string | null> {
  const wanted = nameOrUid.trim();
  if (wanted === "") return null;
  if (isSegment(wanted)) {
    const uid = await orNone(byUid(send, wanted, options));
    if (uid !== null) return uid;
  }
  const found = (await orNone(search(send, wanted, options))) ?? [];
  const same = (text: string | null | undefined) => text?.toLowerCase() === wanted.toLowerCase();
  const byAlias = found.filter((each) => same(each.alias) || each.aliases?.some(same));
  const matches = byAlias.length > 0 ? byAlias : found.filter((each) => same(each.name));
  const [uid, ...others] = new Set(matches.map((each) => each.uid));
  if (others.length === 0) return uid ?? null;
  throw new AmbiguousFactoryError({
    certainty: "not-sent",
    retryable: false,
    detail: `Several factories are called "${wanted}"; name one by its uid.`,
  });
}
