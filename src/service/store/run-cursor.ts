import { z } from "zod";
import type { ListFilter } from "#service/wire/list-query.ts";

/** A run's place in a sorted list: what it is sorted by, and its place in the order of creation. */
export interface Mark {
  readonly key: number | string;
  readonly order: number;
}

/** By the sorting: the column, and what its values are. */
export const sortColumns = {
  updated_at: { column: "updated", kind: "number" },
  created_at: { column: "created", kind: "number" },
  title: { column: "title", kind: "string" },
  agent: { column: "name", kind: "string" },
} as const satisfies Record<ListFilter["sort_by"], unknown>;

const cursor = z.tuple([
  z.string(),
  z.string(),
  z.union([z.number(), z.string(), z.null()]),
  z.number().int(),
]);

/** Titles and names have any length, but an address has not: of a run with a longer one the place is enough. */
const mostKey = 500;

/**
 * A cursor names the last run of the page before by its place in the list, not by a count: runs that are added
 * meanwhile neither shift nor repeat what follows.
 */
export function writeCursor({ key, order }: Mark, { sort_by, sort_order }: ListFilter): string {
  const short = typeof key === "string" && key.length > mostKey ? null : key;
  return Buffer.from(JSON.stringify([sort_by, sort_order, short, order])).toString("base64url");
}

/**
 * "invalid": this service gave no such cursor for the same sorting. `keyAt` tells the title or name of the run
 * with that place, neither of which ever changes; null if there is none.
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
  const { kind } = sortColumns[sort_by];
  const key = written === null && kind === "string" ? keyAt(order) : written;
  return key !== null && typeof key === kind ? { key, order } : "invalid";
}
