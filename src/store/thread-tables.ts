import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { LRUCache } from "lru-cache";
import type { Log } from "#base/log.ts";
import type { Ref } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import type { DatabaseWriter, Write } from "#disk/database-writer.ts";
import { createDamageWatch, type DamageWatch } from "./damage.ts";
import { RefTaken, ThreadUnreadable } from "./errors.ts";
import { readThread } from "./thread-shape.ts";
import {
  addedRefs,
  idInRef,
  keyedRef,
  keyOf,
  putNote,
  putThread,
  refTakenCode,
  removeThread,
  selectKeyedRef,
  selectOld,
  setThreadAside,
} from "./thread-statements.ts";

/**
 * Size of the cached threads' documents in UTF-16 units; as objects they take several times as much. A thread of
 * 2.5 kB is found here in 0.015 ms, and read and checked in 0.055 ms; a whole change takes about 0.2 ms.
 */
const cacheSize = 2 * 1024 * 1024;

/** The thread of a ref; `id` is null if the thread was set aside. */
interface Owner {
  readonly number: number;
  readonly id: Ref | null;
}

/** Reads and writes the threads' tables. All methods throw or reject with `StoreError`. */
export class ThreadTables {
  readonly #database: DatabaseSync;
  readonly #writer: DatabaseWriter;
  readonly #path: string;
  readonly #log: Log;
  readonly #damage: DamageWatch;
  readonly #cache = new LRUCache<number, Thread>({ maxSize: cacheSize });
  readonly #statements;
  readonly #hasKeyedRefs: boolean;
  #lastNumber: number;

  /** `database` is a read-only connection to the database at `path`. */
  constructor(database: DatabaseSync, writer: DatabaseWriter, path: string, log: Log) {
    this.#database = database;
    this.#writer = writer;
    this.#path = path;
    this.#log = log;
    this.#damage = createDamageWatch(path, log);
    const prepare = (sql: string) => database.prepare(sql);
    this.#statements = {
      owner: prepare(`
        SELECT ref.thread AS number, thread.id AS id FROM ref LEFT JOIN thread ON thread.number = ref.thread
        WHERE ref.ref = ?`),
      row: prepare("SELECT id, document FROM thread WHERE number = ?"),
      reason: prepare("SELECT reason FROM broken WHERE number = ?"),
      unsettled: prepare("SELECT number FROM thread WHERE settled IS NULL"),
      note: prepare("SELECT text FROM note WHERE name = ?"),
    };
    this.#lastNumber = lastNumberIn(database);
    this.#hasKeyedRefs = database.prepare(selectKeyedRef).get() !== undefined;
  }

  /** Returns the thread of the ref; null if there is none. */
  owner(ref: Ref): Owner | null {
    const id = idInRef(ref);
    const name = id ?? ref;
    return this.#reading(() => {
      const { owner } = this.#statements;
      const row = owner.get(name) ?? (this.#hasKeyedRefs ? owner.get(keyedRef(keyOf(name))) : undefined);
      if (row === undefined || (id !== null && row.id !== null && row.id !== id)) return null;
      return { number: Number(row.number), id: row.id === null ? null : String(row.id) };
    });
  }

  /** Returns the numbers of the unsettled threads, without reading the others. */
  unsettled(): readonly number[] {
    return this.#reading(() => this.#statements.unsettled.all().map(({ number }) => Number(number)));
  }

  /** Returns at most `most` settled threads that last changed before the day of `limitMs` (since the epoch). */
  old(limitMs: number, most: number): readonly Owner[] {
    const [sql, values] = selectOld(limitMs, most);
    return this.#reading(() =>
      this.#database
        .prepare(sql)
        .all(...values)
        .map(({ number, id }) => ({ number: Number(number), id: String(id) })),
    );
  }

  /** Returns a number for a new thread. */
  nextNumber(): number {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }

  /** Returns the id of the thread with the number; null if there is none. */
  idOf(number: number): Ref | null {
    const row = this.#reading(() => this.#statements.row.get(number));
    return row === undefined ? null : String(row.id);
  }

  /**
   * Resolves with the thread with the number; `keep: false` does not cache it. Rejects with `ThreadUnreadable` if
   * there is none or its document can't be read; such a document is set aside.
   */
  async read(number: number, { keep = true } = {}): Promise<Thread> {
    const cached = this.#cache.get(number);
    if (cached !== undefined) return cached;
    const row = this.#reading(() => this.#statements.row.get(number));
    if (row === undefined) throw this.#unreadable(number);
    const document = String(row.document);
    const found = readThread(document);
    if (found.kind === "thread" && found.thread.id === row.id) {
      if (keep) this.#cache.set(number, found.thread, { size: document.length });
      return found.thread;
    }
    const reason = found.kind === "thread" ? "is another thread's" : found.reason;
    return this.#setAside(number, row, reason, found.kind === "newer");
  }

  /** Resolves when the thread is durable. Rejects if one of its refs is another's: `RefTaken`, `ThreadUnreadable`. */
  async put(number: number, before: Thread | null, after: Thread): Promise<void> {
    for (const ref of addedRefs(before, after)) {
      const owner = this.owner(ref);
      if (owner === null || owner.number === number) continue;
      if (owner.id === null) throw this.#unreadable(owner.number);
      throw new RefTaken(`${ref} belongs to another thread already.`);
    }
    const document = JSON.stringify(after);
    try {
      await this.#write(putThread(number, before, after, document));
    } catch (cause) {
      this.#cache.delete(number);
      throw cause;
    }
    this.#cache.set(number, after, { size: document.length });
  }

  /** Removes the thread with the number, and its refs. */
  async remove(number: number, thread: Thread): Promise<void> {
    this.#cache.delete(number);
    await this.#write(removeThread(number, thread));
  }

  /** Returns the note with the name; null if there is none. */
  note(name: string): string | null {
    const row = this.#reading(() => this.#statements.note.get(name));
    return row === undefined ? null : String(row.text);
  }

  /** Resolves when the note is durable. */
  putNote(name: string, text: string): Promise<void> {
    return this.#write(putNote(name, text));
  }

  /** Rejects if the database can't be written to now or is damaged. */
  async probe(): Promise<void> {
    this.#damage.assertNone();
    // Names of notes contain no dots.
    await this.putNote(".probe", "");
  }

  async close(): Promise<void> {
    this.#database.close();
    // The last connection to close merges the write-ahead log into the database.
    await this.#writer.close();
  }

  #reading<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw this.#damage.errorOf("read the threads", cause);
    }
  }

  async #write(write: Write): Promise<void> {
    try {
      await this.#writer.write(write);
    } catch (cause) {
      if (cause instanceof Error && "errcode" in cause && cause.errcode === refTakenCode) {
        throw new RefTaken("A place or a run of the thread belongs to another thread already.", { cause });
      }
      throw this.#damage.errorOf("write to the threads", cause);
    }
  }

  #unreadable(number: number): ThreadUnreadable {
    const reason = this.#reading(() => this.#statements.reason.get(number)?.reason) ?? "it is missing";
    return new ThreadUnreadable(
      `A thread can't be read: ${String(reason)} (number ${number} of the table broken in ${this.#path}).`,
    );
  }

  async #setAside(
    number: number,
    { id }: Record<string, SQLOutputValue>,
    what: string,
    isNewer: boolean,
  ): Promise<never> {
    const reason = `its document ${what}`;
    const fields = { thread: id, number, reason };
    if (isNewer) {
      this.#log.error("A thread can't be read", fields);
      throw new ThreadUnreadable(`A thread can't be read: ${reason} (${String(id)} in ${this.#path}).`);
    }
    try {
      await this.#write(setThreadAside(number, reason));
      this.#log.error("A thread can't be read and was set aside", fields);
    } catch (error) {
      this.#log.error("A thread can't be read and could not be set aside", { ...fields, error });
    }
    throw new ThreadUnreadable(
      `A thread can't be read: ${reason} (number ${number} of the table broken in ${this.#path}).`,
    );
  }
}

/** Returns the highest number in use; 0 if there is none. Throws SQLite's errors. */
export function lastNumberIn(database: DatabaseSync): number {
  const sql =
    "SELECT max(ifnull((SELECT max(number) FROM thread), 0), ifnull((SELECT max(number) FROM broken), 0)) AS last";
  return Number(database.prepare(sql).get()?.last);
}
