import { readFileSync, writeFileSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Another process works in the folder; two would run every run twice. */
class FolderInUse extends Error {
  override name = "FolderInUse";
}

const sqliteBusy = 5;

/**
 * Takes the folder for this process; what resolves gives it back. The lock is one that SQLite holds on an
 * empty database: the kernel drops it with the process, however that ends and whether or not anybody waits
 * for it, and no two can take over from a dead one at once. Rejects with `FolderInUse`, or with the file
 * system's or SQLite's error.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, "lock");
  // Tells others who holds the lock; it means nothing while nobody does.
  const holder = join(folder, "lock.pid");
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    // By path: opening and closing the file once more would drop the lock, as POSIX has it.
    await chmod(path, 0o600);
    writeFileSync(holder, `${process.pid}\n`, { mode: 0o600 });
  } catch (cause) {
    database.close();
    if (!isBusy(cause)) throw cause;
    throw new FolderInUse(
      `The folder ${folder} is in use by process ${pidIn(holder)}. Stop that process, or set DATA_DIR to another folder.`,
      { cause },
    );
  }
  return async () => database.close();
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && "errcode" in error && error.errcode === sqliteBusy;

function pidIn(holder: string): string {
  try {
    return /^\d+$/m.exec(readFileSync(holder, "utf8"))?.[0] ?? "unknown";
  } catch {
    return "unknown";
  }
}
