/** Tracks background work, such as deliveries. */
export function createUnderWay() {
  const all = new Set<Promise<unknown>>();
  return {
    track<T>(work: Promise<T>): Promise<T> {
      const tracked = work.finally(() => all.delete(tracked));
      all.add(tracked);
      return tracked;
    },
    /** Resolves when all work has ended. */
    async idle(): Promise<void> {
      while (all.size > 0) await Promise.allSettled(all);
    },
  };
}
