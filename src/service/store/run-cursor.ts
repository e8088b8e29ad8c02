import { z } from "zod";
import type { ListFilter } from "#service/wire/list-query.ts";

/** A run's place in a sorted list: its sort key, then its place in the order of creation. */
export interface Mark {
  readonly key: number | string;
  readonly order: number;
}

/** The column of `run` and its type for each `sort_by`. */
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
 * The mark in a cursor; "invalid" if the service made none like it for the same sorting. `keyAt` returns the title
 * or name of the run with that place, which never change; null if there is none.
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
