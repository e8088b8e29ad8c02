import { join } from "node:path";
import type { Log } from "#base/log.ts";
import { createDatabaseWriter, writerThreads } from "#disk/database-writer.ts";
import { codeOf } from "#disk/errors.ts";
import { lockFolder } from "#disk/folder-lock.ts";
import { storeError } from "./errors.ts";
import { importFiles } from "./import-files.ts";
import { LocalStore } from "./local-store.ts";
import { openThreads } from "./salvage.ts";
import { ThreadTables } from "./thread-tables.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** Options of `openStore`. */
export interface OpenStoreOptions {
  /** Created if it is missing; locked by one process at a time. */
  readonly dataDir: string;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Settled threads are removed after this time; 90 days by default. */
  readonly retentionMs?: number;
  /** The database's name; `databaseName` by default. Another one takes over no files of earlier versions. */
  readonly name?: string;
}

/** Name of the database in the data folder. */
export const databaseName = "threads.db";

/**
 * Opens the local store, a database in the data folder, and imports the files of earlier versions. Rejects with
 * `FolderInUse` if another process has the folder, with `NewerDatabase`, and with `StoreError`.
 */
export async function openStore(options: OpenStoreOptions): Promise<LocalStore> {
  const { dataDir, log, now, retentionMs = 90 * dayMs, name = databaseName } = options;
  const path = join(dataDir, name);
  let unlock = async (): Promise<void> => undefined;
  try {
    unlock = await lockFolder(dataDir);
    const database = await openThreads(path, log);
    try {
      if (name === databaseName) await importFiles(dataDir, path, log);
      const writer = createDatabaseWriter(writerThreads(path), log);
      const tables = new ThreadTables(database, writer, path, log);
      return new LocalStore({ tables, retentionMs, now, log, unlock });
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    await unlock();
    // Errors without a code have a sentence for people already.
    throw codeOf(error) === undefined ? error : storeError(`open the data folder ${dataDir}`, error);
  }
}
