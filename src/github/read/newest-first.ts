import type { z } from "zod";

/** More pages than this hold more than could be made up for. */
const mostPages = 200;

export interface Recent<T> {
  readonly items: readonly T[];
  /** False if there was more than is looked through. */
  readonly complete: boolean;
}

/**
 * What is not older than `sinceMs`, of a list that begins with the newest. GitHub's times are whole seconds,
 * so the second of `sinceMs` counts as a whole. Items that make no sense are passed over. Rejects as the
 * requests do.
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

/** The beginning of the second, in milliseconds. */
export const secondOf = (ms: number): number => Math.floor(ms / 1000) * 1000;
