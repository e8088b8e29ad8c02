import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

export type Row = Readonly<Record<string, unknown>>;

/** As many statements are kept, so that hostile filters don't pile them up. */
const mostStatements = 200;

/** Makes what reads the rows of a query; its statement is kept for the next time. */
export function createQueries(
  database: DatabaseSync,
): (sql: string, values: readonly SQLInputValue[]) => readonly Row[] {
  const statements = new Map<string, StatementSync>();
  return (sql, values) => {
    const kept = statements.get(sql);
    if (kept !== undefined) return kept.all(...values);
    const [oldest] = statements.keys();
    if (oldest !== undefined && statements.size >= mostStatements) statements.delete(oldest);
    const statement = database.prepare(sql);
    statements.set(sql, statement);
    return statement.all(...values);
  };
}
