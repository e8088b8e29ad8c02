/** What has begun and not ended; a stop waits for it. */
export interface InFlight {
  /** Holds the work until it has ended, in whatever way; the caller still deals with a rejection. */
  track<T>(work: Promise<T>): Promise<T>;
  size(): number;
  /** Resolves when nothing is in flight any more. */
  idle(): Promise<void>;
}

export function createInFlight(): InFlight {
  const works = new Set<Promise<unknown>>();
  return {
    track(work) {
      const ended = work.then(
        () => {},
        () => {},
      );
      works.add(ended);
      void ended.then(() => works.delete(ended));
      return work;
    },
    size: () => works.size,
    async idle() {
      // What ends may begin something else, such as saving its outcome.
      while (works.size > 0) await Promise.all(works);
    },
  };
}
