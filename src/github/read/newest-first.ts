import type { z } from "zod";

/** Enough for any outage: 20,000 items. */
const mostPages = 200;

/** The newest items of a list. */
export interface Recent<T> {
  readonly items: readonly T[];
  /** False: the list is longer than the bot reads. */
  readonly complete: boolean;
}

/**
 * Reads the items since `sinceMs` from a list that starts with the newest. GitHub's times are whole seconds, so
 * the second of `sinceMs` is included. Malformed items are skipped. Rejects as the requests do.
 */
export async function newestFirst<T>(
  pages: AsyncIterable<{ readonly data: unknown }>,
  schema: z.ZodType<T>,
  timeOf: (item: T) => number,
  sinceMs: number,
): Promise<Recent<T>> {
  const fromMs = secondOf(sinceMs);
  const items: T[] = [];
  let seen = 0;
  for await (const { data } of pages) {
    const read = (Array.isArray(data) ? data : []).flatMap((item) => schema.safeParse(item).data ?? []);
    const recent = read.filter((item) => timeOf(item) >= fromMs);
    items.push(...recent);
    if (recent.length < read.length) return { items, complete: true };
    seen += 1;
    if (seen >= mostPages) return { items, complete: false };
  }
  return { items, complete: true };
}

/** Returns the start of the second, in milliseconds. */
export const secondOf = (ms: number): number => Math.floor(ms / 1000) * 1000;
