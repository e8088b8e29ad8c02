/** Work that goes on after its caller was answered, such as deliveries. */
export function createUnderWay() {
  const all = new Set<Promise<unknown>>();
  return {
    /** Returns the work, and remembers it until it has ended. */
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
