import { hash } from "node:crypto";
import { mkdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Adapter, Low } from "lowdb";
import { LRUCache } from "lru-cache";
import type { Log } from "#base/log.ts";
import type { Ref } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import { storeError, ThreadUnreadable } from "./errors.ts";
import type { Folder } from "./folder.ts";
import { readThread } from "./thread-shape.ts";

/** Text of the documents that are kept in memory, UTF-16 units; as objects they take several times as much. */
const cacheSize = 2 * 1024 * 1024;

/** The name under which a ref is filed: its SHA-256, shortened to 128 bits. */
export const keyOf = (ref: Ref): string => hash("sha256", ref, "hex").slice(0, 32);

const fileOf = (key: string): string => `${key}.json`;
const fileName = /^([0-9a-f]{32})\.json$/;

/** The key of the thread that a file of this name holds; undefined for any other file. */
export const keyInFile = (name: string): string | undefined => fileName.exec(name)?.[1];

/** Where lowdb reads and writes one thread. */
class ThreadFile implements Adapter<Thread | null> {
  readonly #folder: Folder;
  readonly #key: string;
  /** Of the text read or written last. */
  size = 1;

  constructor(folder: Folder, key: string) {
    this.#folder = folder;
    this.#key = key;
  }

  /** null: there is no document. Rejects with `Unreadable` or `StoreError`. The file is read at once. */
  async read(): Promise<Thread | null> {
    const text = this.#folder.read(fileOf(this.#key));
    if (text === null) return null;
    this.size = text.length || 1;
    const found = readThread(text);
    if (found.kind !== "thread") throw new Unreadable(found.reason, found.kind === "damaged");
    if (keyOf(found.thread.id) !== this.#key) throw new Unreadable("is another thread's", true);
    return found.thread;
  }

  write(thread: Thread | null): Promise<void> {
    const text = `${JSON.stringify(thread)}\n`;
    this.size = text.length;
    return this.#folder.put(fileOf(this.#key), text);
  }
}

/** A document was read and is no thread of ours. */
class Unreadable extends Error {
  readonly damaged: boolean;
  constructor(reason: string, damaged: boolean) {
    super(reason);
    this.damaged = damaged;
  }
}

/** The threads, each a lowdb document in a file of its own. */
export class Documents {
  readonly folder: Folder;
  readonly #broken: string;
  readonly #log: Log;
  readonly #cache = new LRUCache<string, Thread>({ maxSize: cacheSize });

  /** Documents that can't be read are moved to the folder `broken`. */
  constructor(folder: Folder, broken: string, log: Log) {
    this.folder = folder;
    this.#broken = broken;
    this.#log = log;
    try {
      mkdirSync(broken, { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw storeError(`open the folder ${broken}`, cause);
    }
  }

  /**
   * The thread filed under `key`; null only if there surely is none. Rejects with `ThreadUnreadable` if its
   * document was set aside, now or earlier. `keep: false` leaves no copy in memory.
   */
  async load(key: string, { keep = true } = {}): Promise<Thread | null> {
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const file = new ThreadFile(this.folder, key);
    const document = new Low<Thread | null>(file, null);
    try {
      await document.read();
    } catch (cause) {
      throw cause instanceof Unreadable ? this.#setAside(key, cause) : cause;
    }
    if (document.data === null) this.#assertNotBroken(key);
    else if (keep) this.#cache.set(key, document.data, { size: file.size });
    return document.data;
  }

  /** Resolves when the thread is durable; memory changes only then. */
  async save(key: string, thread: Thread): Promise<void> {
    const file = new ThreadFile(this.folder, key);
    try {
      await new Low<Thread | null>(file, thread).write();
    } catch (cause) {
      // What is on the disk counts, whatever it is.
      this.#cache.delete(key);
      throw cause;
    }
    this.#cache.set(key, thread, { size: file.size });
  }

  remove(key: string): void {
    this.#cache.delete(key);
    this.folder.remove(fileOf(key));
  }

  #setAside(key: string, cause: Unreadable): ThreadUnreadable {
    const from = join(this.folder.path, fileOf(key));
    const to = join(this.#broken, fileOf(key));
    const reason = `its document ${cause.message}`;
    if (!cause.damaged) {
      this.#log.error("a thread can't be read", { file: from, reason });
      return new ThreadUnreadable(`A thread can't be read: ${reason} (${from}).`);
    }
    try {
      renameSync(from, to);
      this.#log.error("a thread can't be read; it was set aside", { file: to, reason });
    } catch (failure) {
      this.#log.error("a thread can't be read, nor set aside", { file: from, reason, err: failure });
    }
    return new ThreadUnreadable(`A thread can't be read and was set aside: ${reason} (${to}).`);
  }

  #assertNotBroken(key: string): void {
    const path = join(this.#broken, fileOf(key));
    let found: boolean;
    try {
      found = statSync(path, { throwIfNoEntry: false }) !== undefined;
    } catch (cause) {
      throw storeError(`read from ${this.#broken}`, cause);
    }
    if (found) throw new ThreadUnreadable(`A thread can't be read and was set aside (${path}).`);
  }
}
