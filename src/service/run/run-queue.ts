/** What is asked for one run is done one after the other; what is asked for different ones goes on at once. */
export interface RunLines {
  inLine<T>(id: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing is under way. */
  quiet(): Promise<void>;
}

export function createRunLines(): RunLines {
  const lines = new Map<string, Promise<unknown>>();
  return {
    inLine(id, work) {
      const before = lines.get(id);
      const mine = before === undefined ? work() : before.then(work, work);
      const settled = mine.then(
        () => undefined,
        () => undefined,
      );
      lines.set(id, settled);
      void settled.then(() => {
        if (lines.get(id) === settled) lines.delete(id);
      });
      return mine;
    },
    async quiet() {
      while (lines.size > 0) await Promise.all(lines.values());
    },
  };
}
