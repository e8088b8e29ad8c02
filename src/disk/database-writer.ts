import { once } from "node:events";
import { getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";
import type { Log } from "#base/log.ts";
import { identityOf, type Statement } from "./database.ts";

/** Statements of one transaction. They may be run twice, and have the same effect then. */
export type Write = readonly Statement[];

/** Writes to a database from a thread of its own, so that a slow disk holds up nothing else. */
export interface DatabaseWriter {
  /**
   * Resolves when all of it is durable and readers see it; rejects with the system's or SQLite's error, and then
   * nothing of it has changed. Writes take effect in the order in which they are asked for.
   */
  write(write: Write): Promise<void>;
  /** Resolves when everything is written and the thread has ended. */
  close(): Promise<void>;
}

export interface NumberedWrite {
  readonly serial: number;
  readonly write: Write;
}
export type ToThread = readonly NumberedWrite[] | "close";
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

/** A thread that ends so often without having written anything will not get further. */
const mostDeaths = 3;

/** Makes what starts writing threads for the database at `path`, which must be open and in its place now. */
export function writerThreads(path: string): () => Worker {
  const workerData = { path, identity: identityOf(path) };
  // Its heap holds what is being written and no more.
  const resourceLimits = { maxYoungGenerationSizeMb: 8 };
  const program = new URL("./writer-thread.ts", import.meta.url);
  const cacheFolder = getCompileCacheDir();
  if (cacheFolder === undefined) return () => new Worker(program, { workerData, resourceLimits });
  // A thread does not share the process's compile cache by itself. With it, it takes 12 MB and not 31.
  const cached = `require("node:module").enableCompileCache(${JSON.stringify(cacheFolder)}); import("${program}")`;
  return () => new Worker(cached, { eval: true, workerData, resourceLimits });
}

/** Hands writes to threads that `start` starts: the first with the first write, another when one ends by itself. */
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
      mine.on("error", (error) => log.error("a thread that writes to a database failed", { error }));
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

  /** What was sent may be written or not; writing it again makes sure. */
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
      reject(new Error("the thread that writes to the database ends again and again"));
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
        // After the promises that are ready now: writes asked for at the same time are one message.
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
