import { creatorUid, sourceOfAll } from "#service/run/run-document.ts";
import type { ListFilter } from "#service/wire/list-query.ts";

export type Value = string | number;

/** One of the filter's demands on a row of `run`. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
  /** Selects the `ord` of the runs that meet it, by an index; its values are the same. */
  readonly select: string;
}

/** What the filter demands, but for `q`; null: no run can meet it. */
export function conditionsOf(filter: ListFilter): readonly Condition[] | null {
  const constant = (wanted: string | undefined, found: string): boolean =>
    wanted === undefined || wanted === found;
  if (!constant(filter.creator, creatorUid) || !constant(filter.source, sourceOfAll)) return null;
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
