/** The folders that settings name, and what the file system says at a start, in sentences for people. */
import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { codeOf, reasonOf } from "#disk/errors.ts";

/**
 * Makes the folder, and those it is in, unless it is there. A sentence that says what is wrong and names
 * `setting`, if the folder can't be used; null if it can.
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

/** Not by `recursive`, which tries for ever where a folder that is there takes no other, as /proc does. */
function make(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) make(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process that starts may have been first.
    if (!isFolder(path)) throw error;
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Why `what` could not start. What the file system and SQLite say is no sentence by itself. */
export function whyNot(what: string, error: unknown): string {
  if (!(error instanceof Error)) return `${what} could not start, and nothing says why.`;
  const code = codeOf(error);
  if (code === undefined || (code.startsWith("ERR_") && code !== "ERR_SQLITE_ERROR")) return error.message;
  const where = "path" in error && typeof error.path === "string" ? ` (${error.path})` : "";
  const check =
    "Check that what is in DATA_DIR is readable and writable for this account, and that the disk has space";
  return `${what} could not start: ${reasonOf(error)}${where}. ${check}.`;
}
