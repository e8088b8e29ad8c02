import type { Dir } from "node:fs";
import { opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isSettled } from "#core/thread.ts";
import { type Documents, keyInFile } from "./documents.ts";
import { codeOf, storeError, ThreadUnreadable } from "./errors.ts";
import type { KeyedLock } from "./keyed-lock.ts";
import type { Refs } from "./refs.ts";

/** What one call of `sweep` may look at and remove. */
const filesPerSweep = 500;
const removalsPerSweep = 100;

export interface Swept {
  readonly removed: number;
  readonly done: boolean;
}

export interface RetentionParts {
  readonly documents: Documents;
  readonly refs: Refs;
  readonly locks: KeyedLock;
  readonly retentionMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Removes threads that were settled long ago, a bounded step at a time. */
export class Retention {
  readonly #parts: RetentionParts;
  #place: Dir | undefined;
  #sweeping: Promise<Swept> | undefined;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
  }

  /** Rejects with `StoreError`. Calls at the same time share one step. */
  sweep(): Promise<Swept> {
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async close(): Promise<void> {
    await this.#place?.close();
    this.#place = undefined;
  }

  async #sweep(): Promise<Swept> {
    const folder = this.#parts.documents.folder.path;
    let removed = 0;
    try {
      this.#place ??= await opendir(folder);
      for (let seen = 0; seen < filesPerSweep && removed < removalsPerSweep; seen += 1) {
        const entry = await this.#place.read();
        if (entry === null) {
          await this.close();
          return { removed, done: true };
        }
        const key = keyInFile(entry.name);
        if (key === undefined || !(await this.#isOldFile(join(folder, entry.name)))) continue;
        if (await this.#removeIfExpired(key)) removed += 1;
      }
      return { removed, done: false };
    } catch (cause) {
      throw storeError("remove old threads", cause);
    }
  }

  /** A thread changes with its file: a young file needs no reading. */
  async #isOldFile(path: string): Promise<boolean> {
    try {
      return (await stat(path)).mtimeMs < this.#limit();
    } catch (cause) {
      if (codeOf(cause) === "ENOENT") return false;
      throw cause;
    }
  }

  async #removeIfExpired(key: string): Promise<boolean> {
    const { documents, refs, locks } = this.#parts;
    const held = await locks.hold([key]);
    try {
      const thread = await documents.load(key, { keep: false });
      if (thread === null || !isSettled(thread)) return false;
      if (Date.parse(thread.changedAt) >= this.#limit()) return false;
      // While the thread stands, its refs can't become another's: so they go first.
      refs.remove(thread);
      documents.remove(key);
      return true;
    } catch (cause) {
      // Reported already; what can't be read is for people to remove.
      if (cause instanceof ThreadUnreadable) return false;
      throw cause;
    } finally {
      held.release();
    }
  }

  #limit(): number {
    return this.#parts.now() - this.#parts.retentionMs;
  }
}
