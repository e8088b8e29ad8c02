import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Log } from "#base/log.ts";
import type { Write } from "./run-rows.ts";

export interface RunWriter {
  /** Resolves when it is durable, and then readers see it; rejects if it is not, and then nothing has changed. */
  write(write: Write): Promise<void>;
  /** Resolves when everything is written and the thread has ended. */
  close(): Promise<void>;
}

export interface Numbered {
  readonly serial: number;
  readonly write: Write;
}
export type ToThread =
  | { readonly kind: "write"; readonly writes: readonly Numbered[] }
  | { readonly kind: "close" };
/** Everything up to `through` was tried. */
export interface FromThread {
  readonly through: number;
  readonly failed: readonly { readonly serial: number; readonly error: unknown }[];
}

interface Pending {
  readonly write: Write;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A thread that ends so often without having written anything will not get further. */
const mostDeaths = 3;

/** A thread of its own that writes to the database at `path`, so that a slow disk holds up nothing else. */
export const startWriterThread = (path: string): Worker =>
  new Worker(new URL("./run-writer-thread.ts", import.meta.url), {
    workerData: path,
    // Its heap holds what is being written and no more.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  });

/** Hands what is to be written to threads that `start` starts: a new one in place of one that ended by itself. */
export function createRunWriter(start: () => Worker, log: Log): RunWriter {
  const pending = new Map<number, Pending>();
  let serial = 0;
  let collected: Numbered[] = [];
  let deaths = 0;
  let thread: Worker | null = null;
  let closing = false;

  function send(message: ToThread): void {
    if (thread === null) {
      thread = start();
      const mine = thread;
      mine.on("message", settle);
      mine.on("error", (error) => log.error("the thread that writes the runs failed", { error }));
      mine.on("exit", () => {
        if (thread === mine) thread = null;
        if (!closing) startAgain();
      });
    }
    thread.postMessage(message);
  }

  function settle({ through, failed }: FromThread): void {
    deaths = 0;
    for (const each of failed) {
      pending.get(each.serial)?.reject(each.error);
      pending.delete(each.serial);
    }
    for (const [each, { resolve }] of pending) {
      if (each > through) break;
      pending.delete(each);
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
      if (lost.length > 0)
        send({ kind: "write", writes: lost.map(([each, { write }]) => ({ serial: each, write })) });
      return;
    }
    deaths = 0;
    pending.clear();
    for (const [, { reject }] of lost)
      reject(new Error("the thread that writes the runs ends again and again"));
  }

  function flush(): void {
    if (collected.length === 0) return;
    const writes = collected;
    collected = [];
    send({ kind: "write", writes });
    thread?.ref();
  }

  return {
    write(write) {
      return new Promise((resolve, reject) => {
        serial += 1;
        pending.set(serial, { write, resolve, reject });
        // Everything that this turn of the event loop brings is one message.
        if (collected.push({ serial, write }) === 1) setImmediate(flush);
      });
    },
    async close() {
      flush();
      closing = true;
      const last = thread;
      if (last === null) return;
      const exit = once(last, "exit");
      last.ref();
      send({ kind: "close" });
      await exit;
    },
  };
}
