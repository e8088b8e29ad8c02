/** The SQL of a list. */
import type { ListFilter } from "#service/wire/list-query.ts";
import type { Condition, Value } from "./run-conditions.ts";
import { type Mark, sortColumns } from "./run-cursor.ts";

/** SQL with the values of its parameters. */
export interface Query {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** The order in which runs are read. The rows of `runs` have a mark's `key` and `ord`, sorted, within one batch. */
export type Plan =
  /** All matches of a rare condition in one batch. */
  | { readonly kind: "rare"; runs(after: Mark | null, limit: number): Query }
  /** In the order of the sort key's index. `end` selects the last run of the batch of `length` runs. */
  | {
      readonly kind: "sorted";
      end(after: Mark | null, length: number): Query;
      runs(after: Mark | null, until: Mark | null, limit: number): Query;
    }
  /** In the order of creation, because the sort key has no index. The batch has the places `from` to `to`. */
  | { readonly kind: "unsorted"; runs(after: Mark | null, from: number, to: number, limit: number): Query };

/** The plan for a filter. `rare`: the condition that few runs meet, if there is one. */
export function planFor(filter: ListFilter, conditions: readonly Condition[], rare: Condition | null): Plan {
  const { column, kind } = sortColumns[filter.sort_by];
  const [direction, beyond] = filter.sort_order === "asc" ? ["ASC", ">"] : ["DESC", "<"];
  const order = `ORDER BY run.${column} ${direction}, run.ord ${direction} LIMIT ?`;
  const past = `(run.${column}, run.ord) ${beyond} (?, ?)`;
  const pastMark = (mark: Mark | null, sql = past): readonly Query[] =>
    mark === null ? [] : [{ sql, values: [mark.key, mark.order] }];
  const select = (from: Query, where: readonly Query[], limits: readonly number[], offset = ""): Query => ({
    sql: `SELECT run.${column} AS key, run.ord AS ord FROM ${from.sql} ${allOf(where)} ${order} ${offset}`,
    values: [...from.values, ...where.flatMap(({ values }) => values), ...limits],
  });

  if (rare !== null) {
    const from = { sql: `(${rare.select}) AS rare CROSS JOIN run USING (ord)`, values: rare.values };
    return {
      kind: "rare",
      runs: (after, limit) => select(from, [...conditions, ...pastMark(after)], [limit]),
    };
  }
  if (kind === "string") {
    const from = { sql: "run", values: [] };
    // The unary plus keeps SQLite from using the index of another condition.
    const others = conditions.map(({ sql, values }) => ({ sql: `+(${sql})`, values }));
    return {
      kind: "unsorted",
      runs(after, first, last, limit) {
        const batch = { sql: "run.ord BETWEEN ? AND ?", values: [first, last] };
        return select(from, [batch, ...others, ...pastMark(after)], [limit]);
      },
    };
  }
  // Pollers ask for the latest changes among the runs of one name.
  const named = column === "updated" && filter.name !== undefined ? [filter.name] : [];
  const index = named.length > 0 ? "run_name_updated" : `run_${column}`;
  const from = { sql: `run INDEXED BY ${index}`, values: [] };
  return {
    kind: "sorted",
    end(after, length) {
      const sameName = named.map((name) => ({ sql: "name = ?", values: [name] }));
      return select(from, [...sameName, ...pastMark(after)], [1, length], "OFFSET ?");
    },
    runs: (after, until, limit) =>
      select(from, [...conditions, ...pastMark(after), ...pastMark(until, `NOT ${past}`)], [limit]),
  };
}

const allOf = (where: readonly Query[]): string =>
  where.length === 0 ? "" : `WHERE ${where.map(({ sql }) => sql).join(" AND ")}`;
