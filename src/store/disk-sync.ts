import { fsync, fsyncSync } from "node:fs";
import { promisify } from "node:util";

const fsyncInPool = promisify(fsync);

/** Below this, an fsync is over before the thread pool would have answered, and nobody notices the wait. */
const quickMs = 0.5;

/**
 * Makes what was written to a file or a folder durable: in place while the disk is quick, in the thread
 * pool once it is not, so that a slow disk never holds up the process.
 */
export class DiskSync {
  #lastMs = Number.POSITIVE_INFINITY;

  /** `alone`: nothing else waits for the disk; several are quicker side by side in the thread pool. */
  async sync(descriptor: number, { alone }: { readonly alone: boolean }): Promise<void> {
    const started = performance.now();
    if (alone && this.#lastMs < quickMs) fsyncSync(descriptor);
    else await fsyncInPool(descriptor);
    this.#lastMs = performance.now() - started;
  }
}
