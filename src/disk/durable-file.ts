import { randomUUID } from "node:crypto";
import { open, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Adapter } from "lowdb";

/** Ending of temporary files, which a crash may leave behind. */
const unfinishedEnding = ".tmp";

/** Returns whether the error means that there is no such file. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";

/**
 * Replaces the file and resolves when that is durable: temporary file, fsync, rename, fsync of the folder. Only the
 * owner can read it. If it rejects, with the file system's error, the old content stays.
 *
 * write-file-atomic 8 treats a short write on a full disk as success and replaces a good file by a truncated one.
 * `FileHandle.writeFile` continues until everything is written, or rejects.
 */
export async function writeDurably(path: string, text: string | Uint8Array): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}${unfinishedEnding}`);
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Resolves when the folder's new, renamed and removed entries are durable. */
export async function syncFolder(path: string): Promise<void> {
  // Windows can't open folders; its file system journals renames.
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The file's content is not the expected document. */
export class BrokenDocument extends Error {
  override name = "BrokenDocument";
}

/**
 * Returns lowdb's adapter for one JSON document. `parse` checks the JSON and throws if it is not the document;
 * reading then rejects with `BrokenDocument`. Reading resolves with null if there is no file.
 */
export function durableFile<T>(path: string, parse: (value: unknown) => T): Adapter<T | null> {
  return {
    async read() {
      let text: string;
      try {
        text = await readFile(path, "utf8");
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
      try {
        return parse(JSON.parse(text));
      } catch (cause) {
        throw new BrokenDocument(`${basename(path)} does not hold what belongs there`, { cause });
      }
    },
    write: (data) => writeDurably(path, JSON.stringify(data)),
  };
}
