/** Prepares the configured folders, and explains start-up errors in sentences for people. */
import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { codeOf, reasonOf } from "#disk/errors.ts";

/**
 * Makes the folder, and its parents, unless it exists. Returns null if the folder can be used, else a sentence that
 * names `setting` and the reason.
 */
export function prepareFolder(setting: string, path: string): string | null {
  try {
    make(resolve(path));
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    const reason = codeOf(error) === "ENOENT" ? "no folder can be made there" : reasonOf(error);
    return `${setting} (${path}) can't be used: ${reason}. Set it to a folder that this account may write to.`;
  }
}

/** Avoids the option `recursive`, which never returns under folders that refuse subfolders, such as /proc. */
function make(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) make(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Returns a sentence that says why `subject` could not start; errors of the file system and SQLite are explained. */
export function whyNot(subject: string, error: unknown): string {
  if (!(error instanceof Error)) return `${subject} could not start, for an unknown reason.`;
  const code = codeOf(error);
  if (code === undefined || (code.startsWith("ERR_") && code !== "ERR_SQLITE_ERROR")) return error.message;
  const where = "path" in error && typeof error.path === "string" ? ` (${error.path})` : "";
  const check =
    "Check that this account may read and write everything in DATA_DIR, and that the disk has space";
  return `${subject} could not start: ${reasonOf(error)}${where}. ${check}.`;
}
