/** Work under one key is done in the order it was asked for; work under different keys goes on side by side. */
export interface KeyedQueue {
  /** Does `work` when all earlier work under the key has ended, at once if there is none; settles as it does. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** The same, but resolves with `otherwise`, without doing the work, if `signal` is aborted before its turn. */
  runUnlessAborted<T>(key: string, signal: AbortSignal, work: () => Promise<T>, otherwise: T): Promise<T>;
  /** Resolves when nothing is under way and nothing waits. */
  idle(): Promise<void>;
}

export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<void>>();

  function run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = tails.get(key);
    const result = before === undefined ? work() : before.then(work);
    const tail = result.then(
      () => undefined,
      () => undefined,
    );
    tails.set(key, tail);
    void tail.then(() => {
      if (tails.get(key) === tail) tails.delete(key);
    });
    return result;
  }

  return {
    run,
    runUnlessAborted(key, signal, work, otherwise) {
      const left = Promise.withResolvers<typeof otherwise>();
      const leave = (): void => left.resolve(otherwise);
      if (signal.aborted) leave();
      signal.addEventListener("abort", leave);
      // The turn of an aborted caller stays in the queue and does nothing, so that nobody overtakes.
      const turn = run(key, async () => {
        // A signal may outlive very many callers.
        signal.removeEventListener("abort", leave);
        return signal.aborted ? otherwise : work();
      });
      return Promise.race([turn, left.promise]);
    },
    async idle() {
      while (tails.size > 0) await Promise.all(tails.values());
    },
  };
}
