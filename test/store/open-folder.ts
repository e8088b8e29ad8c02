import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { onTestFinished } from "vitest";
import type { LocalStore } from "#store/local-store.ts";
import { databaseName, type OpenStoreOptions, openStore } from "#store/open-store.ts";
import { memoryLog } from "./threads.ts";

export { freshFolder as newFolder } from "#test/support/fresh-folder.ts";

/** Runs `sql` on the folder's database over its own connection; returns the rows. */
export function rowsIn(folder: string, sql: string, ...values: SQLInputValue[]): Record<string, unknown>[] {
  using database = new DatabaseSync(join(folder, databaseName), { timeout: 1000 });
  return database.prepare(sql).all(...values);
}

/** Locks the folder's database against writes; the returned function unlocks it. */
export function lockDatabase(folder: string): () => void {
  const database = new DatabaseSync(join(folder, databaseName), { timeout: 1000 });
  database.exec("BEGIN IMMEDIATE");
  return () => database.close();
}

/** Opens a store that is closed before its folder is removed. */
export async function open(dataDir: string, more: Partial<OpenStoreOptions> = {}): Promise<LocalStore> {
  const store = await openStore({ dataDir, log: memoryLog().log, now: Date.now, ...more });
  onTestFinished(() => store.close());
  return store;
}
