/** The SQL of a list. */
import type { ListFilter } from "./list-query.ts";
import type { Condition, Value } from "./run-conditions.ts";
import { type Mark, sortColumns } from "./run-cursor.ts";

interface Query {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Each row has `key`, what it is sorted by, and `ord`. */
export interface Look {
  /** The runs that meet all conditions after one mark and up to another; `run` is their JSON if `q` is looked for. */
  runs(after: Mark | null, until: Mark | null, limit: number): Query;
  /** The one that stands so far after the mark in what is looked through; null: that is little anyway. */
  readonly stretch: ((after: Mark | null, length: number) => Query) | null;
}

/** `few`: the condition whose runs are looked at and sorted; null: all are, in the order of an index. */
export function lookFor(filter: ListFilter, conditions: readonly Condition[], few: Condition | null): Look {
  const { column } = sortColumns[filter.sort_by];
  const [direction, beyond] = filter.sort_order === "asc" ? ["ASC", ">"] : ["DESC", "<"];
  const order = `ORDER BY run.${column} ${direction}, run.ord ${direction} LIMIT ?`;
  const past = `(run.${column}, run.ord) ${beyond} (?, ?)`;
  const pastMark = (mark: Mark | null, sql: string): readonly Query[] =>
    mark === null ? [] : [{ sql, values: [mark.key, mark.order] }];

  // Of the runs of one name an index has the latest changes in order, which is what pollers ask for.
  const named = filter.sort_by === "updated_at" && filter.name !== undefined ? [filter.name] : [];
  const all = `run INDEXED BY ${named.length > 0 ? "run_name_updated" : `run_${column}`}`;

  return {
    runs(after, until, limit) {
      const source = few === null ? all : `(${few.select}) AS few CROSS JOIN run ON run.ord = few.ord`;
      const [text, item] =
        filter.q === undefined ? ["", ""] : [", item.run AS run", "CROSS JOIN item ON item.ord = run.ord"];
      const where = [...conditions, ...pastMark(after, past), ...pastMark(until, `NOT ${past}`)];
      return {
        sql: `SELECT run.${column} AS key, run.ord AS ord${text} FROM ${source} ${item} ${allOf(where)} ${order}`,
        values: [...(few?.values ?? []), ...where.flatMap(({ values }) => values), limit],
      };
    },
    stretch:
      few !== null
        ? null
        : (after, length) => {
            const where = [
              ...named.map((name) => ({ sql: "name = ?", values: [name] })),
              ...pastMark(after, past),
            ];
            return {
              sql: `SELECT run.${column} AS key, run.ord AS ord FROM ${all} ${allOf(where)} ${order} OFFSET ?`,
              values: [...where.flatMap(({ values }) => values), 1, length],
            };
          },
  };
}

const allOf = (where: readonly Query[]): string =>
  where.length === 0 ? "" : `WHERE ${where.map(({ sql }) => sql).join(" AND ")}`;
