/** Turns the errors of the file system and of SQLite into words for people. */

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission is denied",
  EDQUOT: "the disk quota is used up",
  EEXIST: "a file is where a folder should be",
  EIO: "the disk reports an error",
  EISDIR: "a folder is where a file should be",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open on this machine",
  ENOENT: "the folder is gone",
  ENOSPC: "no space is left on the disk",
  ENOTDIR: "a file is where a folder should be",
  EPERM: "permission is denied",
  EROFS: "the file system is read-only",
  ESTALE: "another file has taken its place",
};

/** A primary result code, see https://sqlite.org/rescode.html. */
export const sqliteBusy = 5;
/** A primary result code, see https://sqlite.org/rescode.html. */
export const sqliteCorrupt = 11;
const sqliteNotADatabase = 26;
const sqliteReasons: Readonly<Record<number, string>> = {
  [sqliteBusy]: "another program has the database locked",
  8: "the database or its file system is read-only",
  10: "the disk reports an error",
  [sqliteCorrupt]: "the database is damaged",
  13: "no space is left on the disk",
  14: "the database can't be opened",
  [sqliteNotADatabase]: "the file is no database",
};

/** Returns the system's error code, such as `ENOENT`; undefined if there is none. */
export function codeOf(cause: unknown): string | undefined {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
}

/** Returns SQLite's primary result code; undefined for other errors. */
export function sqliteCodeOf(cause: unknown): number | undefined {
  const extended = cause instanceof Error && "errcode" in cause ? cause.errcode : undefined;
  return typeof extended === "number" ? extended & 0xff : undefined;
}

/** Returns whether the error means that the file is a damaged database or no database. */
export function isDamage(cause: unknown): cause is Error {
  const code = sqliteCodeOf(cause);
  return code === sqliteCorrupt || code === sqliteNotADatabase;
}

/** Returns the error's reason in words that follow a colon. */
export function reasonOf(cause: unknown): string {
  const code = codeOf(cause);
  if (code === undefined) return "the reason is unknown";
  const known = sqliteReasons[sqliteCodeOf(cause) ?? 0] ?? reasons[code];
  if (known !== undefined) return known;
  return code === "ERR_SQLITE_ERROR" && cause instanceof Error
    ? cause.message
    : `the system answered ${code}`;
}
