import { reasonOf } from "#disk/errors.ts";

/** The store could not do what was asked of it. Its message is a sentence for people; `cause` is the reason. */
export class StoreError extends Error {
  override readonly name: string = "StoreError";
}

/** The database is damaged where it was read or written. The next start saves what can be read. */
export class StoreDamaged extends StoreError {
  override readonly name = "StoreDamaged";
}

/** There is a thread, but its document can't be read; a new one in its place would do everything twice. */
export class ThreadUnreadable extends StoreError {
  override readonly name = "ThreadUnreadable";
}

/** A change gave a thread a place or a run that leads to another thread already. */
export class RefTaken extends StoreError {
  override readonly name = "RefTaken";
}

/** `doing` completes "The store could not …". Returns a `StoreError` as it is. */
export function storeError(doing: string, cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause;
  return new StoreError(`The store could not ${doing}: ${reasonOf(cause)}.`, { cause });
}
