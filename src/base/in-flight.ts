/** Tracks unfinished work, so that a stop can wait for it. */
export interface InFlight {
  /** Tracks the work until it settles, and returns it; the caller handles a rejection. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Resolves when no work is in flight, including work that others begin as they end. */
  idle(): Promise<void>;
}

/** Creates an empty tracker. */
export function createInFlight(): InFlight {
  const works = new Set<Promise<unknown>>();
  return {
    track(work) {
      const ended: Promise<unknown> = Promise.allSettled([work]).then(() => works.delete(ended));
      works.add(ended);
      return work;
    },
    async idle() {
      while (works.size > 0) await Promise.all(works);
    },
  };
}
