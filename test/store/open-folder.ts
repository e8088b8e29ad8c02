import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { onTestFinished } from "vitest";
import type { LocalStore } from "#store/local-store.ts";
import { databaseName, type OpenStoreOptions, openStore } from "#store/open-store.ts";
import { memoryLog } from "./threads.ts";

export { freshFolder as newFolder } from "#test/support/fresh-folder.ts";

/** Rows of the database in the folder, by another connection than the store's; `sql` may also change them. */
export function rowsIn(folder: string, sql: string, ...values: SQLInputValue[]): Record<string, unknown>[] {
  using database = new DatabaseSync(join(folder, databaseName), { timeout: 1000 });
  return database.prepare(sql).all(...values);
}

/** Locks the database in the folder, so that nothing can be written; the returned function ends that. */
export function lockDatabase(folder: string): () => void {
  const database = new DatabaseSync(join(folder, databaseName), { timeout: 1000 });
  database.exec("BEGIN IMMEDIATE");
  return () => database.close();
}

/** An open store that is closed before its folder goes. */
export async function open(dataDir: string, more: Partial<OpenStoreOptions> = {}): Promise<LocalStore> {
  const store = await openStore({ dataDir, log: memoryLog().log, now: Date.now, ...more });
  onTestFinished(() => store.close());
  return store;
}
