import { once } from "node:events";
import { getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";
import type { Log } from "#base/log.ts";
import { identityOf, type Statement } from "./database.ts";

/** Statements of one transaction. Running them twice must have the same effect as once. */
export type Write = readonly Statement[];

/** Writes to a database from its own thread, so that a slow disk delays nothing else. */
export interface DatabaseWriter {
  /**
   * Resolves when the write is durable and visible to readers. If it rejects, with the system's or SQLite's error,
   * nothing has changed. Writes take effect in the order of the calls.
   */
  write(write: Write): Promise<void>;
  /** Resolves when everything is written and the thread has ended. */
  close(): Promise<void>;
}

/** A write and its number in the order of the calls. */
export interface NumberedWrite {
  readonly serial: number;
  readonly write: Write;
}
/** A message to the writing thread. */
export type ToThread = readonly NumberedWrite[] | "close";
/** A message from the writing thread. */
export interface FromThread {
  /** Every write up to this serial was tried. */
  readonly through: number;
  readonly failed: readonly {
    readonly serial: number;
    readonly error: { readonly message: string; readonly code?: unknown; readonly errcode?: unknown };
  }[];
}

interface Pending {
  readonly write: Write;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** After so many deaths in a row without a write, all pending writes reject. */
const mostDeaths = 3;

/** Returns a function that starts writing threads for the database at `path`, which must exist. */
export function writerThreads(path: string): () => Worker {
  const workerData = { path, identity: identityOf(path) };
  // The heap holds only the writes in progress.
  const resourceLimits = { maxYoungGenerationSizeMb: 8 };
  const program = new URL("./writer-thread.ts", import.meta.url);
  const cacheFolder = getCompileCacheDir();
  if (cacheFolder === undefined) return () => new Worker(program, { workerData, resourceLimits });
  // A thread doesn't share the process's compile cache by default. With the cache it takes 12 MB, not 31.
  const cached = `require("node:module").enableCompileCache(${JSON.stringify(cacheFolder)}); import("${program}")`;
  return () => new Worker(cached, { eval: true, workerData, resourceLimits });
}

/** Creates a writer. `start` starts its thread at the first write, and again after an unexpected end. */
export function createDatabaseWriter(start: () => Worker, log: Log): DatabaseWriter {
  const pending = new Map<number, Pending>();
  let serial = 0;
  let collected: NumberedWrite[] = [];
  let deaths = 0;
  let thread: Worker | null = null;
  let closing = false;

  function send(message: ToThread): void {
    if (thread === null) {
      thread = start();
      const mine = thread;
      mine.on("message", settle);
      mine.on("error", (error) => log.error("The thread that writes to a database failed", { error }));
      mine.on("exit", () => {
        if (thread === mine) thread = null;
        if (!closing) startAgain();
      });
    }
    thread.postMessage(message);
  }

  function settle({ through, failed }: FromThread): void {
    deaths = 0;
    for (const { serial: at, error } of failed) {
      pending.get(at)?.reject(Object.assign(new Error(error.message), error));
      pending.delete(at);
    }
    for (const [at, { resolve }] of pending) {
      if (at > through) break;
      pending.delete(at);
      resolve();
    }
    if (pending.size === 0) thread?.unref();
  }

  /** Repeats the pending writes, which may have been written or not. */
  function startAgain(): void {
    deaths += 1;
    collected = [];
    const lost = [...pending];
    if (deaths < mostDeaths) {
      if (lost.length > 0) send(lost.map(([at, { write }]) => ({ serial: at, write })));
      return;
    }
    deaths = 0;
    pending.clear();
    for (const [, { reject }] of lost) {
      reject(new Error("the thread that writes to the database keeps failing"));
    }
  }

  function flush(): void {
    if (collected.length === 0) return;
    const writes = collected;
    collected = [];
    send(writes);
    thread?.ref();
  }

  return {
    write(write) {
      return new Promise((resolve, reject) => {
        serial += 1;
        pending.set(serial, { write, resolve, reject });
        // Writes of the same tick become one message.
        if (collected.push({ serial, write }) === 1) process.nextTick(flush);
      });
    },
    async close() {
      flush();
      closing = true;
      const last = thread;
      if (last === null) return;
      const exit = once(last, "exit");
      last.ref();
      send("close");
      await exit;
    },
  };
}
