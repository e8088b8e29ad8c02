import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreLocked, storeError } from "./errors.ts";

const sqliteBusy = 5;

/**
 * Takes the folder for this process and answers how to give it back. The lock is one that SQLite holds on
 * an empty database: the kernel drops it with the process, however it ends, so none is ever left behind.
 * Throws `StoreLocked` if somebody else has it, `StoreError` if it can't be told.
 */
export function lockFolder(folder: string): () => void {
  const path = join(folder, "lock");
  // Only the number of who holds the lock, to name it to others; it says nothing while the lock is free.
  const holder = join(folder, "lock.pid");
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec("PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    // By path: opening and closing the file once more would drop the lock, as POSIX has it.
    chmodSync(path, 0o600);
    writeFileSync(holder, `${process.pid}\n`, { mode: 0o600 });
  } catch (cause) {
    database?.close();
    if (!isBusy(cause)) throw storeError(`lock the data folder ${folder}`, cause);
    throw new StoreLocked(
      `The data folder ${folder} is in use by another process${named(holder)}. ` +
        "Stop that process, or set DATA_DIR to another folder.",
      { cause },
    );
  }
  return () => database.close();
}

const isBusy = (cause: unknown): boolean =>
  cause instanceof Error && "errcode" in cause && cause.errcode === sqliteBusy;

function named(holder: string): string {
  try {
    const pid = readFileSync(holder, "utf8").trim();
    return /^\d+$/.test(pid) ? ` (pid ${pid})` : "";
  } catch {
    return "";
  }
}
