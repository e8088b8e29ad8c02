import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import type { DiskSync } from "./disk-sync.ts";
import { codeOf, StoreError, storeError } from "./errors.ts";
import type { Draft, Kept, Scratch } from "./scratch.ts";

interface Put {
  readonly name: string;
  readonly text: string;
  resolve(): void;
  reject(error: StoreError): void;
}
interface Placed {
  readonly put: Put;
  readonly old: Kept;
}

/** Files written in one go, at most: what is open at once, and what one folder fsync is shared by. */
const batchSize = 128;

/** Windows can't fsync a folder; NTFS journals a rename by itself. */
const foldersSync = process.platform !== "win32";

/**
 * A folder of small files that are written whole: temporary file, fsync, rename, folder fsync. Writes that
 * are asked for in the same turn of the event loop, or during a write, share their folder fsync.
 * Everything here throws or rejects with `StoreError`.
 */
export class Folder {
  readonly path: string;
  readonly #scratch: Scratch;
  readonly #disk: DiskSync;
  readonly #descriptor: number;
  readonly #identity: string;
  #queue: Put[] = [];
  #writing = false;

  /** Makes the folder if it isn't there. */
  constructor(path: string, scratch: Scratch, disk: DiskSync) {
    this.path = path;
    this.#scratch = scratch;
    this.#disk = disk;
    try {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      this.#descriptor = openSync(path, "r");
      this.#identity = identityOf(path);
    } catch (cause) {
      throw storeError(`open the folder ${path}`, cause);
    }
  }

  /** Makes durable what is in the folder, such as the names that a killed process had still to sync. */
  async sync(): Promise<void> {
    if (!foldersSync) return;
    try {
      await this.#disk.sync(this.#descriptor, { alone: true });
    } catch (cause) {
      throw storeError(`write to ${this.path}`, cause);
    }
  }

  /** The file's text; null only if there surely is no such file. */
  read(name: string): string | null {
    try {
      return readFileSync(join(this.path, name), "utf8");
    } catch (cause) {
      if (codeOf(cause) !== "ENOENT") throw storeError(`read from ${this.path}`, cause);
      this.#assertInPlace();
      return null;
    }
  }

  /** Resolves when the file holds `text` durably; if it rejects, the file is as it was. One at a time per name. */
  put(name: string, text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ name, text, resolve, reject });
      if (this.#writing) return;
      this.#writing = true;
      setImmediate(() => void this.#write());
    });
  }

  /** Removes the file if it is there; whether that outlasts a power failure is left open. */
  remove(name: string): void {
    try {
      unlinkSync(join(this.path, name));
    } catch (cause) {
      if (codeOf(cause) !== "ENOENT") throw storeError(`remove a file from ${this.path}`, cause);
    }
  }

  /** Names of all files, in no order. */
  async *names(): AsyncGenerator<string> {
    try {
      for await (const entry of await opendir(this.path)) yield entry.name;
    } catch (cause) {
      throw storeError(`list ${this.path}`, cause);
    }
  }

  /** Rejects if nothing can be written here. */
  async probe(): Promise<void> {
    try {
      this.#assertInPlace();
      const draft = this.#scratch.write("probe\n", { fresh: true });
      try {
        await this.#disk.sync(draft.descriptor, { alone: true });
      } finally {
        this.#scratch.drop(draft);
      }
    } catch (cause) {
      throw storeError(`write to ${this.path}`, cause);
    }
  }

  /** Nothing may be under way any more. */
  async close(): Promise<void> {
    closeSync(this.#descriptor);
    await this.#scratch.clear();
  }

  /** A folder that was moved away or unmounted has no files, and yet nothing in it is "not found". */
  #assertInPlace(): void {
    let identity: string;
    try {
      identity = identityOf(this.path);
    } catch (cause) {
      throw storeError(`read from ${this.path}`, cause);
    }
    if (identity !== this.#identity) {
      throw new StoreError(`The store could not read from ${this.path}: another folder has taken its place.`);
    }
  }

  async #write(): Promise<void> {
    while (this.#queue.length > 0) await this.#writeBatch(this.#queue.splice(0, batchSize));
    this.#writing = false;
  }

  async #writeBatch(batch: readonly Put[]): Promise<void> {
    const placed: Placed[] = [];
    const writing = batch.map(async (put) => {
      try {
        const draft = await this.#draft(put.text, batch.length === 1);
        placed.push({ put, old: this.#place(put.name, draft) });
      } catch (cause) {
        put.reject(storeError(`write to ${this.path}`, cause));
      }
    });
    await Promise.all(writing);
    if (placed.length === 0) return;
    try {
      await this.sync();
    } catch (cause) {
      for (const each of placed) this.#takeBack(each, storeError(`write to ${this.path}`, cause));
      return;
    }
    for (const { put, old } of placed) {
      if (old.kind === "kept") this.#scratch.giveBack(old.path);
      put.resolve();
    }
  }

  async #draft(text: string, alone: boolean): Promise<Draft> {
    const draft = this.#scratch.write(text);
    try {
      await this.#disk.sync(draft.descriptor, { alone });
    } catch (cause) {
      this.#scratch.drop(draft);
      throw cause;
    }
    closeSync(draft.descriptor);
    return draft;
  }

  #place(name: string, draft: Draft): Kept {
    const path = join(this.path, name);
    const old = this.#scratch.keep(path);
    try {
      renameSync(draft.path, path);
      return old;
    } catch (cause) {
      rmSync(draft.path, { force: true });
      if (old.kind === "kept") rmSync(old.path, { force: true });
      throw cause;
    }
  }

  #takeBack({ put, old }: Placed, error: StoreError): void {
    const path = join(this.path, put.name);
    try {
      if (old.kind === "kept") renameSync(old.path, path);
      if (old.kind === "absent") rmSync(path, { force: true });
      put.reject(error);
    } catch (cause) {
      put.reject(new StoreError(error.message, { cause: new AggregateError([error, cause]) }));
    }
  }
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}
