/** Lines to stand in: whatever is done under one name is done one after the other. */
export interface Lines {
  /** Does `work` when everything before it is done; `otherwise` if `signal` is aborted before that. */
  inLine<T>(name: string, signal: AbortSignal, work: () => Promise<T>, otherwise: T): Promise<T>;
}

export function createLines(): Lines {
  const ends = new Map<string, Promise<void>>();
  return {
    async inLine(name, signal, work, otherwise) {
      const before = ends.get(name) ?? Promise.resolve();
      let leave = (): void => undefined;
      const mine = new Promise<void>((resolve) => {
        leave = resolve;
      });
      // Whoever leaves early does not let those behind it pass those before it.
      const end = before.then(() => mine);
      ends.set(name, end);
      void end.then(() => {
        if (ends.get(name) === end) ends.delete(name);
      });
      const enough = Promise.withResolvers<void>();
      const give = (): void => enough.resolve();
      if (signal.aborted) give();
      signal.addEventListener("abort", give);
      try {
        await Promise.race([before, enough.promise]);
        return signal.aborted ? otherwise : await work();
      } finally {
        // A signal may outlive very many that stood in line with it.
        signal.removeEventListener("abort", give);
        leave();
      }
    },
  };
}
