import { readFileSync, writeFileSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqliteBusy, sqliteCodeOf } from "./errors.ts";

/** The folder is locked by another process, or by this one. The message says what to do. */
export class FolderInUse extends Error {
  override name = "FolderInUse";
}

/**
 * Creates the folder if necessary and locks it; the returned function releases it. The lock is SQLite's on an empty
 * database, which the kernel releases when the process ends. Rejects with `FolderInUse`, or with the file
 * system's or SQLite's error.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, "lock");
  // Names the holder in others' errors; meaningless while the lock is free.
  const holder = join(folder, "lock.pid");
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    // By path: POSIX releases the lock when the process closes any descriptor of the file.
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
