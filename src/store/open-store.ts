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

export interface OpenStoreOptions {
  /** Made if it isn't there; one process at a time has it. */
  readonly dataDir: string;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** For how long settled threads are kept. */
  readonly retentionMs?: number;
}

/** The file in the data folder that has the threads. */
export const databaseName = "threads.db";

/**
 * Opens the local store, a database in the data folder. Takes no longer with more threads, except for the first
 * start after files, which are imported. Rejects with `FolderInUse` if another process has the folder, with
 * `NewerDatabase`, and with `StoreError`.
 */
export async function openStore(options: OpenStoreOptions): Promise<LocalStore> {
  const { dataDir, log, now, retentionMs = 90 * dayMs } = options;
  const path = join(dataDir, databaseName);
  let unlock = async (): Promise<void> => undefined;
  try {
    unlock = await lockFolder(dataDir);
    const database = await openThreads(path, log);
    try {
      await importFiles(dataDir, path, log);
      const writer = createDatabaseWriter(writerThreads(path), log);
      const tables = new ThreadTables(database, writer, path, log);
      return new LocalStore({ tables, retentionMs, now, log, unlock });
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    await unlock();
    // The others are sentences already.
    throw codeOf(error) === undefined ? error : storeError(`open the data folder ${dataDir}`, error);
  }
}
