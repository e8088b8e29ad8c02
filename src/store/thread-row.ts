import type { Adapter } from "lowdb";
import type { Ref } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import { idInRef } from "./thread-statements.ts";
import type { ThreadTables } from "./thread-tables.ts";

/** lowdb's adapter for one thread: the row of the ref's thread, written together with the thread's refs. */
export class ThreadRow implements Adapter<Thread | null> {
  /** The thread's id or, if there is no thread, the likely id of one begun under the ref. */
  readonly key: Ref;
  /** null: no thread has the ref. */
  readonly number: number | null;
  readonly #tables: ThreadTables;
  #before: Thread | null = null;

  /** Looks up the ref. Throws `StoreError` if it can't be read. */
  constructor(tables: ThreadTables, ref: Ref) {
    const owner = tables.owner(ref);
    this.key = owner?.id ?? idInRef(ref) ?? ref;
    this.#tables = tables;
    this.number = owner?.number ?? null;
  }

  /** Resolves with null if there is no thread. Rejects with `ThreadUnreadable` or another `StoreError`. */
  async read(): Promise<Thread | null> {
    this.#before = this.number === null ? null : await this.#tables.read(this.number);
    return this.#before;
  }

  /** Resolves when the thread is durable. Rejects with `RefTaken` or another `StoreError`. */
  async write(thread: Thread | null): Promise<void> {
    // Changes don't remove threads; `LocalStore.sweep` does.
    if (thread === null) return;
    await this.#tables.put(this.number ?? this.#tables.nextNumber(), this.#before, thread);
  }
}
