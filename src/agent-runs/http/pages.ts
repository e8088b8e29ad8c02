import { ResponseSchemaError } from "../errors.ts";
import type { PageInfo } from "../schema/run.ts";
import type { Reply } from "./reply.ts";

/**
 * Every page of a query, in order; `load` gets the query with each page's cursor. Throws `ResponseSchemaError`
 * if a further page is announced without a way to it: the list would look complete and be cut short.
 */
export async function* pages<
  Q extends { readonly cursor?: string | undefined },
  P extends { readonly page_info?: PageInfo | null | undefined },
>(query: Q, load: (query: Q) => Promise<Reply<P>>): AsyncGenerator<P, void, undefined> {
  const visited = new Set<string>();
  for (let cursor: string | undefined; ; ) {
    const { data } = await load(cursor === undefined ? query : { ...query, cursor });
    yield data;
    if (!data.page_info?.has_next_page) return;
    const next = data.page_info.next_cursor;
    // An empty cursor would lead to the first page again.
    if (!next || visited.has(next)) {
      throw new ResponseSchemaError(
        {
          certainty: "refused",
          retryable: true,
          reason: "The Agent Runs API announced another page without a usable page_info.next_cursor.",
        },
        ["page_info.next_cursor"],
      );
    }
    visited.add(next);
    cursor = next;
  }
}
