import { creatorUid, sourceOfAll } from "#service/run/run-document.ts";
import type { ListFilter } from "#service/wire/list-query.ts";

/** A value of a query parameter. */
export type Value = string | number;

/** A condition of a filter on a row of `run`. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
  /** Selects the `ord` of the matching runs by an index. Its parameters are the same `values`. */
  readonly select: string;
}

/** The filter's conditions except for `q`; null if no run can match. */
export function conditionsOf(filter: ListFilter): readonly Condition[] | null {
  const { creator = creatorUid, source = sourceOfAll } = filter;
  if (creator !== creatorUid || source !== sourceOfAll) return null;
  const conditions: Condition[] = [];
  const add = (sql: string, ...values: Value[]): void =>
    void conditions.push({ sql, values, select: `SELECT ord FROM run WHERE ${sql}` });
  const same = (column: string, wanted: string | undefined): void => {
    if (wanted !== undefined) add(`${column} = ?`, wanted);
  };
  if (filter.state.length > 0) add(`state IN (${filter.state.map(() => "?").join()})`, ...filter.state);
  same("name", filter.name);
  same("model", filter.model_id);
  same("environment", filter.environment_id);
  same("skill", filter.skill);
  if (filter.created_after !== undefined) add("created > ?", filter.created_after);
  if (filter.created_before !== undefined) add("created < ?", filter.created_before);
  if (filter.updated_after !== undefined) add("updated > ?", filter.updated_after);
  for (const pair of filter.metadata) {
    conditions.push({
      sql: "EXISTS (SELECT 1 FROM metadata WHERE key = ? AND value = ? AND ord = run.ord)",
      values: pair,
      select: "SELECT ord FROM metadata WHERE key = ? AND value = ?",
    });
  }
  return conditions;
}
