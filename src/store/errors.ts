import { reasonOf } from "#disk/errors.ts";

/** A failure of the store. The message is a sentence for people. */
export class StoreError extends Error {
  override readonly name: string = "StoreError";
}

/** The database is damaged. The next start salvages it. */
export class StoreDamaged extends StoreError {
  override readonly name = "StoreDamaged";
}

/** The thread's document can't be read. A new thread in its place would repeat its effects. */
export class ThreadUnreadable extends StoreError {
  override readonly name = "ThreadUnreadable";
}

/** Some unsettled threads can't be read for now; see `Store.unsettled`. */
export class ThreadsLeftOut extends StoreError {
  override readonly name = "ThreadsLeftOut";
  readonly leftOut: number;
  constructor(leftOut: number, cause: unknown) {
    super(`The store could not read ${leftOut} of the unsettled threads.`, { cause });
    this.leftOut = leftOut;
  }
}

/** A change gave a thread a place or a run of another thread. */
export class RefTaken extends StoreError {
  override readonly name = "RefTaken";
}

/** Returns a `StoreError` for `cause` unless it is one; `doing` completes "The store could not …". */
export function storeError(doing: string, cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause;
  return new StoreError(`The store could not ${doing}: ${reasonOf(cause)}.`, { cause });
}
