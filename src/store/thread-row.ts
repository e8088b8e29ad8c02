import type { Adapter } from "lowdb";
import type { Ref } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import { idInRef } from "./thread-statements.ts";
import type { ThreadTables } from "./thread-tables.ts";

/** lowdb's adapter for one thread: the row to which a ref leads, written together with the refs of the thread. */
export class ThreadRow implements Adapter<Thread | null> {
  /** The thread's id, or the id that a thread begun with the ref would most likely have. */
  readonly key: Ref;
  /** null: the ref leads nowhere. */
  readonly number: number | null;
  readonly #tables: ThreadTables;
  #before: Thread | null = null;

  /** Throws `StoreError` if it can't be told where the ref leads. */
  constructor(tables: ThreadTables, ref: Ref) {
    const owner = tables.owner(ref);
    this.key = owner?.id ?? idInRef(ref) ?? ref;
    this.#tables = tables;
    this.number = owner?.number ?? null;
  }

  /** null only if there surely is no thread. Rejects with `ThreadUnreadable` or another `StoreError`. */
  async read(): Promise<Thread | null> {
    this.#before = this.number === null ? null : await this.#tables.read(this.number);
    return this.#before;
  }

  /** Resolves when the thread is durable. Rejects with `RefTaken` or another `StoreError`. */
  async write(thread: Thread | null): Promise<void> {
    // A thread doesn't become none; the store removes old ones by itself.
    if (thread === null) return;
    await this.#tables.put(this.number ?? this.#tables.nextNumber(), this.#before, thread);
  }
}
