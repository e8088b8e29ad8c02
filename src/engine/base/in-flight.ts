/** Work that has begun and not ended; a stop waits for it. */
export interface InFlight {
  /** Counts the work until it has settled, and returns it; the caller handles a rejection. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
}

export function createInFlight(): InFlight {
  const works = new Set<Promise<unknown>>();
  return {
    track(work) {
      const ended: Promise<unknown> = Promise.allSettled([work]).then(() => works.delete(ended));
      works.add(ended);
      return work;
    },
    async idle() {
      // Work that ends may begin more, such as saving its outcome.
      while (works.size > 0) await Promise.all(works);
    },
  };
}
