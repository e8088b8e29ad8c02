import { z } from "zod";
import type { ListFilter } from "./list-query.ts";

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

const cursor = z.tuple([z.string(), z.string(), z.union([z.number(), z.string()]), z.number().int()]);

/**
 * A cursor names the last run of the page before by its place in the list, not by a count: runs that are added
 * meanwhile neither shift nor repeat what follows.
 */
export const writeCursor = ({ key, order }: Mark, { sort_by, sort_order }: ListFilter): string =>
  Buffer.from(JSON.stringify([sort_by, sort_order, key, order])).toString("base64url");

/** "invalid": this service gave no such cursor for the same sorting. */
export function readCursor(text: string, { sort_by, sort_order }: ListFilter): Mark | "invalid" {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    return "invalid";
  }
  const parsed = cursor.safeParse(value);
  if (!parsed.success) return "invalid";
  const [by, direction, key, order] = parsed.data;
  const same = by === sort_by && direction === sort_order && typeof key === sortColumns[sort_by].kind;
  return same ? { key, order } : "invalid";
}
