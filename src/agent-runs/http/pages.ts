import { ResponseSchemaError } from "../errors.ts";

interface Page {
  readonly page_info?:
    | { readonly has_next_page: boolean; readonly next_cursor?: string | null | undefined }
    | null
    | undefined;
}

/**
 * Every page that `load` gives, in order; `cursor` is undefined for the first. Throws `ResponseSchemaError`
 * where more is promised and can't be had: a list cut short would pass for a whole one.
 */
export async function* pages<P extends Page>(
  load: (cursor: string | undefined) => Promise<P>,
): AsyncGenerator<P, void, undefined> {
  const visited = new Set<string>();
  let cursor: string | undefined;
  for (;;) {
    const page = await load(cursor);
    yield page;
    if (!page.page_info?.has_next_page) return;
    const next = page.page_info.next_cursor;
    // An empty one would lead to the first page again.
    if (!next || visited.has(next)) {
      throw new ResponseSchemaError({
        certainty: "refused",
        retryable: true,
        reason: "The Agent Runs API promised a further page without a way to it: page_info.next_cursor.",
        fields: ["page_info.next_cursor"],
      });
    }
    visited.add(next);
    cursor = next;
  }
}
