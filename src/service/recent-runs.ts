/** What was asked for lately and again of runs, as it is on the disk: who waits for a run asks and asks. */
export interface RecentRuns<T> {
  /** That of the run with the id, read if it is not at hand. */
  get(id: string): T | null;
  /** The run is not any more what it was. */
  forget(id: string): void;
}

/** `read` reads it from the disk. `mostBytes`: of what is kept, by what `bytesOf` tells of each. */
export function createRecentRuns<T>(
  read: (id: string) => T | null,
  bytesOf: (value: T) => number,
  mostBytes: number,
): RecentRuns<T> {
  /** The one that was asked for last is last. */
  const kept = new Map<string, T>();
  let bytes = 0;
  /** Ids that were asked for once lately. */
  const asked = new Set<string>();

  function isAskedAgain(id: string): boolean {
    if (asked.delete(id)) return true;
    asked.add(id);
    const [oldest] = asked;
    if (asked.size > mostAsked && oldest !== undefined) asked.delete(oldest);
    return false;
  }

  function forget(id: string): void {
    const value = kept.get(id);
    if (value === undefined) return;
    kept.delete(id);
    bytes -= bytesOf(value);
  }

  return {
    get(id) {
      const known = kept.get(id);
      if (known !== undefined) {
        kept.delete(id);
        kept.set(id, known);
        return known;
      }
      const value = read(id);
      // Whoever goes through all runs asks for each once; keeping those would cost more than it saves.
      if (value === null || bytesOf(value) > mostBytes / 10 || !isAskedAgain(id)) return value;
      kept.set(id, value);
      bytes += bytesOf(value);
      for (const oldest of kept.keys()) {
        if (bytes <= mostBytes) break;
        forget(oldest);
      }
      return value;
    },
    forget,
  };
}

const mostAsked = 2_000;
