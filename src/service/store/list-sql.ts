/** The SQL of a list. */
import { creatorUid, sourceOfAll } from "#service/run/run-document.ts";
import type { ListFilter } from "#service/wire/list-query.ts";
import { type Mark, sortKeys } from "./run-cursor.ts";

/** SQL with the values of its parameters. */
export interface Query {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** A condition of a filter on a row of `run`. */
export interface Condition extends Query {
  /** Selects the `ord` of the matching runs by an index, with the same `values`; null: there is no index. */
  readonly select: string | null;
}

/** The value of the filter `environment_id` for runs without an environment (public document). */
const withoutEnvironment = "empty-environment";

/** The runs below a run, each once, even if damaged rows make a circle. */
const descendants = `
  WITH RECURSIVE below (id, ord) AS (
    SELECT id, ord FROM run WHERE parent = ?
    UNION SELECT run.id, run.ord FROM below JOIN run ON run.parent = below.id
  ) SELECT ord FROM below`;

/** The filter's conditions except for `q`; null if no run can match. */
export function conditionsOf(filter: ListFilter): readonly Condition[] | null {
  const { creator = creatorUid, executor = creatorUid, source = sourceOfAll } = filter;
  if (creator !== creatorUid || executor !== creatorUid || source !== sourceOfAll) return null;
  if (filter.execution_location === "REMOTE" || filter.schedule_id !== undefined) return null;
  const conditions: Condition[] = [];
  const add = (sql: string, ...values: (string | number)[]): void =>
    void conditions.push({ sql, values, select: `SELECT ord FROM run WHERE ${sql}` });
  const same = (column: string, wanted: string | undefined): void => {
    if (wanted !== undefined) add(`${column} = ?`, wanted);
  };
  if (filter.state.length > 0) add(`state IN (${filter.state.map(() => "?").join()})`, ...filter.state);
  same("name", filter.name);
  same("model", filter.model_id);
  if (filter.environment_id === withoutEnvironment) {
    conditions.push({ sql: "ifnull(environment, '') = ''", values: [], select: null });
  } else same("environment", filter.environment_id);
  same("skill", filter.skill);
  same("factory", filter.factory_uid);
  if (filter.created_after !== undefined) add("created > ?", filter.created_after);
  if (filter.created_before !== undefined) add("created < ?", filter.created_before);
  if (filter.updated_after !== undefined) add("updated > ?", filter.updated_after);
  if (filter.ancestor_run_id !== undefined) {
    const values = [filter.ancestor_run_id];
    conditions.push({ sql: `run.ord IN (${descendants})`, values, select: descendants });
  }
  if (filter.artifact_type !== undefined) {
    conditions.push({
      sql: "EXISTS (SELECT 1 FROM made WHERE made.ord = run.ord AND type = ?)",
      values: [filter.artifact_type],
      select: "SELECT DISTINCT ord FROM made WHERE type = ?",
    });
  }
  const { automation_id } = filter;
  const automation = automation_id === undefined ? [] : [["automation_id", automation_id] as const];
  for (const pair of [...filter.metadata, ...automation]) {
    conditions.push({
      sql: "EXISTS (SELECT 1 FROM metadata WHERE key = ? AND value = ? AND ord = run.ord)",
      values: pair,
      select: "SELECT ord FROM metadata WHERE key = ? AND value = ?",
    });
  }
  return conditions;
}

/** The batches in which runs are read. The rows of `runs` have a mark's `key` and `ord`, sorted. */
export type Plan =
  /** Sorted, by an index. `end` selects the last run of the batch of `length` runs; null: one batch has all. */
  | {
      readonly kind: "sorted";
      end(after: Mark | null, length: number): Query | null;
      runs(after: Mark | null, until: Mark | null, limit: number): Query;
    }
  /** In the order of creation, because the sort key has no index. The batch has the places `from` to `to`. */
  | { readonly kind: "unsorted"; runs(after: Mark | null, from: number, to: number, limit: number): Query };

/** The plan for a filter. `rare` selects the `ord` of the runs that meet a condition that few meet, if there is one. */
export function planFor(filter: ListFilter, conditions: readonly Condition[], rare: Query | null): Plan {
  const { key: keyIn, index } = sortKeys[filter.sort_by];
  const key = keyIn(filter.sort_order);
  const [direction, beyond] = filter.sort_order === "asc" ? ["ASC", ">"] : ["DESC", "<"];
  const order = `ORDER BY ${key} ${direction}, run.ord ${direction} LIMIT ?`;
  const past = `(${key}, run.ord) ${beyond} (?, ?)`;
  const pastMark = (mark: Mark | null, sql = past): readonly Query[] =>
    mark === null ? [] : [{ sql, values: [mark.key, mark.order] }];
  const select = (from: Query, where: readonly Query[], limits: readonly number[], offset = ""): Query => ({
    sql: `SELECT ${key} AS key, run.ord AS ord FROM ${from.sql} ${allOf(where)} ${order} ${offset}`,
    values: [...from.values, ...where.flatMap(({ values }) => values), ...limits],
  });

  if (index === null && rare === null) {
    // The unary plus keeps SQLite from using the index of another condition.
    const others = conditions.map(({ sql, values }) => ({ sql: `+(${sql})`, values }));
    return {
      kind: "unsorted",
      runs(after, first, last, limit) {
        const batch = { sql: "run.ord BETWEEN ? AND ?", values: [first, last] };
        return select({ sql: "run", values: [] }, [batch, ...others, ...pastMark(after)], [limit]);
      },
    };
  }
  const from =
    rare === null
      ? { sql: `run INDEXED BY ${index}`, values: [] }
      : { sql: `(${rare.sql}) AS rare CROSS JOIN run USING (ord)`, values: rare.values };
  return {
    kind: "sorted",
    end: (after, length) => (rare === null ? select(from, pastMark(after), [1, length], "OFFSET ?") : null),
    runs: (after, until, limit) =>
      select(from, [...conditions, ...pastMark(after), ...pastMark(until, `NOT ${past}`)], [limit]),
  };
}

const allOf = (where: readonly Query[]): string =>
  where.length === 0 ? "" : `WHERE ${where.map(({ sql }) => sql).join(" AND ")}`;
