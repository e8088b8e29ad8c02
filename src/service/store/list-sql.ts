/** The SQL of a list. */
import type { ListFilter } from "#service/wire/list-query.ts";
import type { Condition, Value } from "./run-conditions.ts";
import { type Mark, sortColumns } from "./run-cursor.ts";

export interface Query {
  readonly sql: string;
  readonly values: readonly Value[];
}

/**
 * How the runs are looked through. Each row of `runs` has `key`, what it is sorted by, and `ord`; and `run`, its
 * JSON, if `q` is looked for.
 */
export type Look =
  /** Few: all at once. */
  | { readonly kind: "few"; runs(after: Mark | null, limit: number): Query }
  /** In the order of an index; `end` is the run so far after the mark, which the next stretch begins after. */
  | {
      readonly kind: "sorted";
      end(after: Mark | null, length: number): Query;
      runs(after: Mark | null, until: Mark | null, limit: number): Query;
    }
  /** In the order of creation, since no index has them sorted; the places are those of the stretch. */
  | { readonly kind: "unsorted"; runs(after: Mark | null, from: number, to: number, limit: number): Query };

/** `few`: the condition that few runs meet. */
export function lookFor(filter: ListFilter, conditions: readonly Condition[], few: Condition | null): Look {
  const { column, kind } = sortColumns[filter.sort_by];
  const [direction, beyond] = filter.sort_order === "asc" ? ["ASC", ">"] : ["DESC", "<"];
  const order = `ORDER BY run.${column} ${direction}, run.ord ${direction} LIMIT ?`;
  const past = `(run.${column}, run.ord) ${beyond} (?, ?)`;
  const pastMark = (mark: Mark | null, sql = past): readonly Query[] =>
    mark === null ? [] : [{ sql, values: [mark.key, mark.order] }];

  function select(from: Query, where: readonly Query[], limit: number): Query {
    const [text, item] =
      filter.q === undefined ? ["", ""] : [", item.run AS run", "CROSS JOIN item USING (ord)"];
    return {
      sql: `SELECT run.${column} AS key, run.ord AS ord${text} FROM ${from.sql} ${item} ${allOf(where)} ${order}`,
      values: [...from.values, ...where.flatMap(({ values }) => values), limit],
    };
  }

  if (few !== null) {
    const from = { sql: `(${few.select}) AS few CROSS JOIN run USING (ord)`, values: few.values };
    return { kind: "few", runs: (after, limit) => select(from, [...conditions, ...pastMark(after)], limit) };
  }
  if (kind === "string") {
    const from = { sql: "run", values: [] };
    return {
      kind: "unsorted",
      runs(after, first, last, limit) {
        const stretch = { sql: "run.ord BETWEEN ? AND ?", values: [first, last] };
        // Only the stretch may lead to the rows.
        const others = conditions.map(({ sql, values }) => ({ sql: `+(${sql})`, values }));
        return select(from, [stretch, ...others, ...pastMark(after)], limit);
      },
    };
  }
  // Of the runs of one name an index has the latest changes in order, which is what pollers ask for.
  const named = column === "updated" && filter.name !== undefined ? [filter.name] : [];
  const from = {
    sql: `run INDEXED BY ${named.length > 0 ? "run_name_updated" : `run_${column}`}`,
    values: [],
  };
  return {
    kind: "sorted",
    end(after, length) {
      const where = [...named.map((name) => ({ sql: "name = ?", values: [name] })), ...pastMark(after)];
      return {
        sql: `SELECT run.${column} AS key, run.ord AS ord FROM ${from.sql} ${allOf(where)} ${order} OFFSET ?`,
        values: [...where.flatMap(({ values }) => values), 1, length],
      };
    },
    runs: (after, until, limit) =>
      select(from, [...conditions, ...pastMark(after), ...pastMark(until, `NOT ${past}`)], limit),
  };
}

const allOf = (where: readonly Query[]): string =>
  where.length === 0 ? "" : `WHERE ${where.map(({ sql }) => sql).join(" AND ")}`;
