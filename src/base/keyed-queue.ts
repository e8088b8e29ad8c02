/** Runs work one after the other within each key; work under different keys runs at the same time. */
export interface KeyedQueue {
  /**
   * Runs `work` when all earlier work under `key` has settled, synchronously if there is none. Settles as `work`
   * does, or rejects with the signal's reason if it is aborted before the work starts.
   */
  run<T>(
    key: string,
    work: () => Promise<T>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<T>;
  /** Resolves when nothing is queued or running, including work added meanwhile. */
  idle(): Promise<void>;
}

/** Creates an empty queue. */
export function createKeyedQueue(): KeyedQueue {
  /** Settles when all the work under the key has. */
  const tails = new Map<string, Promise<void>>();
  return {
    run(key, work, { signal } = {}) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      const before = tails.get(key);
      const result = before === undefined ? work() : turn(before, signal).then(work);
      // After queued work is aborted, later work must still wait for earlier work.
      const tail = Promise.allSettled([before, result]).then(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
      tails.set(key, tail);
      return result;
    },
    async idle() {
      while (tails.size > 0) await Promise.all(tails.values());
    },
  };
}

async function turn(before: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return before;
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort);
  try {
    await Promise.race([before, aborted.promise]);
  } finally {
    // The signal may outlive the work.
    signal.removeEventListener("abort", abort);
  }
}
