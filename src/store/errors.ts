/** The store could not do what was asked of it. Its message is a sentence for people; `cause` is what happened. */
export class StoreError extends Error {
  override readonly name: string = "StoreError";
}

/** Another process, or another store of this process, has the data folder open. */
export class StoreLocked extends StoreError {
  override readonly name = "StoreLocked";
}

/** There is a thread, but its document can't be read; a new one in its place would do everything twice. */
export class ThreadUnreadable extends StoreError {
  override readonly name = "ThreadUnreadable";
}

/** A change gave a thread a place or a run that leads to another thread already. */
export class RefTaken extends StoreError {
  override readonly name = "RefTaken";
}

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
};

/** The system's error code, such as `ENOENT`; undefined if the error carries none. */
export function codeOf(cause: unknown): string | undefined {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
}

/** What the error says, in words that go on after a colon. */
export function reasonOf(cause: unknown): string {
  const code = codeOf(cause);
  if (code === undefined) return "the reason is unknown";
  // SQLite has one code of Node's for everything, and says what it is in words.
  if (code === "ERR_SQLITE_ERROR" && cause instanceof Error) return cause.message;
  return reasons[code] ?? `the system answered ${code}`;
}

/** `doing` completes "The store could not …". An error that is a sentence already is handed back as it is. */
export function storeError(doing: string, cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause;
  return new StoreError(`The store could not ${doing}: ${reasonOf(cause)}.`, { cause });
}
