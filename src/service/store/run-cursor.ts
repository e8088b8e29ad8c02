import { z } from "zod";
import type { ListFilter } from "#service/wire/list-query.ts";

/** A run's place in a sorted list: its sort key, then its place in the order of creation. */
export interface Mark {
  readonly key: number | string;
  readonly order: number;
}

interface SortKey {
  readonly kind: "number" | "string";
  /** The SQL of the key of a row of `run`. */
  readonly key: (order: ListFilter["sort_order"]) => string;
  /** The index on the key; null: there is none. */
  readonly index: string | null;
}

/** The sort key of each `sort_by`. Runs without a skill come last in either order. */
export const sortKeys: Readonly<Record<ListFilter["sort_by"], SortKey>> = {
  updated_at: { kind: "number", key: () => "run.updated", index: "run_updated" },
  created_at: { kind: "number", key: () => "run.created", index: "run_created" },
  title: { kind: "string", key: () => "run.title", index: null },
  agent: {
    kind: "string",
    key: (order) => `iif(run.skill IS NULL, ${order === "asc" ? "'1', '0'" : "'0', '1'"} || run.skill)`,
    index: null,
  },
};

const cursor = z.tuple([
  z.string(),
  z.string(),
  z.union([z.number(), z.string(), z.null()]),
  z.number().int(),
]);

/** URLs have a limited length, so a cursor leaves out a longer key; the run's place suffices to find it. */
const mostKey = 500;

/**
 * The cursor of the page after the run with this mark. It holds no offset, so runs that are added meanwhile
 * neither shift nor repeat runs on later pages.
 */
export function writeCursor({ key, order }: Mark, { sort_by, sort_order }: ListFilter): string {
  const short = typeof key === "string" && key.length > mostKey ? null : key;
  return Buffer.from(JSON.stringify([sort_by, sort_order, short, order])).toString("base64url");
}

/**
 * The mark in a cursor; "invalid" if the service made none like it for the same sorting. `keyAt` returns the sort
 * key of the run with that place, a title or skill, which never change; null if there is none.
 */
export function readCursor(
  text: string,
  { sort_by, sort_order }: ListFilter,
  keyAt: (order: number) => string | null,
): Mark | "invalid" {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    return "invalid";
  }
  const parsed = cursor.safeParse(value);
  if (!parsed.success) return "invalid";
  const [by, direction, written, order] = parsed.data;
  if (by !== sort_by || direction !== sort_order) return "invalid";
  const { kind } = sortKeys[sort_by];
  const key = written === null && kind === "string" ? keyAt(order) : written;
  return key !== null && typeof key === kind ? { key, order } : "invalid";
}
