import { Low } from "lowdb";
import { createKeyedQueue } from "#base/keyed-queue.ts";
import type { Log } from "#base/log.ts";
import { type Ref, threadRef } from "#core/place.ts";
import { isSettled, type Thread } from "#core/thread.ts";
import type { Notes, Store } from "#ports.ts";
import { RefTaken, StoreDamaged, StoreError, ThreadUnreadable } from "./errors.ts";
import { ThreadRow } from "./thread-row.ts";
import { allRefsOf } from "./thread-statements.ts";
import type { ThreadTables } from "./thread-tables.ts";

/** Threads that one sweep removes, at most. */
const removalsPerSweep = 100;

/** The number of threads that a sweep removed; `done`: there are no more to remove now. */
export interface Swept {
  readonly removed: number;
  readonly done: boolean;
}

export interface LocalStoreParts {
  readonly tables: ThreadTables;
  /** Milliseconds for which settled threads are kept, to the day. */
  readonly retentionMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
  /** Gives the data folder back when the database is closed. */
  readonly unlock: () => Promise<void>;
}

/** Threads and notes in a database on this machine. `openStore` builds it. */
export class LocalStore implements Store, Notes {
  readonly #parts: LocalStoreParts;
  /** By the id of the thread. */
  readonly #queue = createKeyedQueue();
  readonly #underWay = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;

  constructor(parts: LocalStoreParts) {
    this.#parts = parts;
  }

  /**
   * As the port has it; `fn` must be pure, for it is called again if the ref has come to lead to another thread.
   * Rejects with `StoreError`, of which `ThreadUnreadable` (there is a thread, set aside) and `RefTaken` (`fn`
   * claimed another thread's place or run) are kinds, with `TypeError` if `fn` gave the thread another id or
   * made one that `ref` doesn't lead to, and with what `fn` throws.
   */
  change<T>(ref: Ref, fn: (thread: Thread | null) => { thread: Thread | null; result: T }): Promise<T> {
    return this.#whileOpen(async () => {
      for (;;) {
        const { key } = new ThreadRow(this.#parts.tables, ref);
        const changed = await this.#queue.run(key, () => this.#changeAlone(ref, key, fn));
        if (changed !== null) return changed.result;
      }
    });
  }

  /** Waits for a change of the thread that is under way. Rejects with `StoreError`. */
  find(ref: Ref): Promise<Thread | null> {
    return this.change(ref, (thread) => ({ thread, result: thread }));
  }

  /**
   * As the port has it, reading nothing but unsettled threads. One that can't be read is reported and left
   * out; a failure of the disk is thrown at the end, after all others.
   */
  async *unsettled(): AsyncGenerator<Thread, void, undefined> {
    const { tables, log } = this.#parts;
    let failure: unknown;
    for (const number of await this.#whileOpen(async () => tables.unsettled())) {
      try {
        const thread = await this.#whileOpen(async () => {
          const id = tables.idOf(number);
          // Not kept in memory: the engine holds what it needs of them.
          return id === null ? null : this.#queue.run(id, () => tables.read(number, { keep: false }));
        });
        if (thread !== null && !isSettled(thread)) yield thread;
      } catch (error) {
        if (this.#closed !== undefined) throw error;
        if (!(error instanceof ThreadUnreadable || error instanceof StoreDamaged)) failure ??= error;
        log.error("An unsettled thread can't be read", { number, error });
      }
    }
    if (failure !== undefined) throw failure;
  }

  note(name: string): Promise<string | null> {
    return this.#whileOpen(async () => this.#parts.tables.note(name));
  }

  keepNote(name: string, text: string): Promise<void> {
    return this.#whileOpen(() => this.#parts.tables.putNote(name, text));
  }

  /** Resolves if the store can be written to now; rejects with `StoreError`, a sentence. */
  writable(): Promise<void> {
    return this.#whileOpen(() => this.#parts.tables.probe());
  }

  /** Removes some of the settled threads that are older than the retention. Rejects with `StoreError`. */
  sweep(): Promise<Swept> {
    return this.#whileOpen(async () => {
      const { tables, now, retentionMs } = this.#parts;
      const limitMs = now() - retentionMs;
      const old = tables.old(limitMs, removalsPerSweep);
      const removals = old.map(({ id, number }) =>
        this.#queue.run(String(id), () => this.#removeAlone(number, limitMs)),
      );
      const removed = (await Promise.all(removals)).filter(Boolean).length;
      // What can't be removed is left for people, and must not keep the sweep going for ever.
      return { removed, done: old.length < removalsPerSweep || removed === 0 };
    });
  }

  /** Refuses what comes from now on, waits for what is under way, and gives the folder back. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#underWay);
    try {
      await this.#parts.tables.close();
    } finally {
      await this.#parts.unlock();
    }
  }

  /** null: the ref has come to lead elsewhere since `key` was its thread's. */
  async #changeAlone<T>(
    ref: Ref,
    key: Ref,
    fn: (thread: Thread | null) => { thread: Thread | null; result: T },
  ): Promise<{ readonly result: T } | null> {
    const row = new ThreadRow(this.#parts.tables, ref);
    if (row.key !== key) return null;
    const document = new Low<Thread | null>(row, null);
    await document.read();
    const before = document.data;
    const { thread: after, result } = fn(before);
    if (after === null || after === before) return { result };
    assertLeadsTo(ref, before, after);
    document.data = after;
    try {
      await document.write();
    } catch (error) {
      // Meanwhile another thread was the first to claim this very ref.
      const isMoved = new ThreadRow(this.#parts.tables, ref).number !== row.number;
      if (error instanceof RefTaken && isMoved) return null;
      throw error;
    }
    return { result };
  }

  /** Whether the thread was removed; it may have changed since it was found to be old. */
  async #removeAlone(number: number, limitMs: number): Promise<boolean> {
    try {
      const thread = await this.#parts.tables.read(number, { keep: false });
      if (!isSettled(thread) || Date.parse(thread.changedAt) >= limitMs) return false;
      await this.#parts.tables.remove(number, thread);
      return true;
    } catch (error) {
      // Reported already; what can't be read is for people to remove.
      if (error instanceof ThreadUnreadable) return false;
      throw error;
    }
  }

  async #whileOpen<T>(job: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw new StoreError("The store is closed.");
    const working = job();
    this.#underWay.add(working);
    try {
      return await working;
    } finally {
      this.#underWay.delete(working);
    }
  }
}

/** Throws `TypeError` unless `after` is the same thread as `before`, or one that `ref` leads to. */
function assertLeadsTo(ref: Ref, before: Thread | null, after: Thread): void {
  if (before === null) {
    if (allRefsOf(after).includes(ref) || ref === threadRef(after.id)) return;
    throw new TypeError(`A thread was begun under ${ref}, which doesn't lead to it.`);
  }
  if (after.id !== before.id) throw new TypeError(`The thread ${before.id} was given another id.`);
}
