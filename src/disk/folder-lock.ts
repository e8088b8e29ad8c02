import { readFileSync, writeFileSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqliteBusy, sqliteCodeOf } from "./errors.ts";

/** Another process, or another part of this one, has the folder. The message says what to do. */
export class FolderInUse extends Error {
  override name = "FolderInUse";
}

/**
 * Makes the folder unless it is there, and takes it for this process; the returned function gives it back. The
 * lock is one that SQLite holds on an empty database: the kernel drops it with the process, however that ends.
 * Rejects with `FolderInUse`, or with the file system's or SQLite's error.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, "lock");
  // Names the holder to others; it means nothing while the lock is free.
  const holder = join(folder, "lock.pid");
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    // By path: opening and closing the file once more would drop the lock, as POSIX has it.
    await chmod(path, 0o600);
    writeFileSync(holder, `${process.pid}\n`, { mode: 0o600 });
  } catch (cause) {
    database.close();
    if (sqliteCodeOf(cause) !== sqliteBusy) throw cause;
    throw new FolderInUse(
      `The folder ${folder} is in use by ${holderIn(holder)}. Stop that process, or set DATA_DIR to another folder.`,
      { cause },
    );
  }
  return async () => database.close();
}

function holderIn(path: string): string {
  try {
    const pid = /^\d+$/m.exec(readFileSync(path, "utf8"))?.[0];
    return pid === undefined ? "another process" : `process ${pid}`;
  } catch {
    return "another process";
  }
}
