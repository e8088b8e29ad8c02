import { randomUUID } from "node:crypto";
import { open, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Adapter } from "lowdb";

/** Ending of files that a crash may leave behind half-written. */
const unfinishedEnding = ".tmp";

export const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";

/**
 * Replaces the file whole and resolves when that is durable: temporary file, fsync, rename, fsync of the
 * folder. Readable by its owner only. Rejects with the file system's error; then the old content stands.
 *
 * Not write-file-atomic: version 8 takes a short write on a full disk for success, and so replaces a good
 * file by a cut one. `FileHandle.writeFile` writes on until everything is written, or rejects.
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

/** Resolves when what was made, renamed and removed in the folder is durable. */
export async function syncFolder(path: string): Promise<void> {
  // Windows has no handle to a folder; its renames are journalled by the file system.
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The file was read, and does not hold the document that belongs there. */
export class BrokenDocument extends Error {
  override name = "BrokenDocument";
}

/**
 * lowdb's adapter for one JSON document. `parse` checks what was read and throws if it is not the document;
 * reading then rejects with `BrokenDocument`. It answers null only if there surely is no file.
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
