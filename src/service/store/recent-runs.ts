/** What was asked for lately and again of runs, as it is on the disk: who waits for a run asks and asks. */
export interface RecentRuns<T> {
  /** That of the run with the id, read with `read` if it is not at hand. */
  get(id: string, read: (id: string) => T | null): T | null;
  /** The run is not any more what it was. */
  forget(id: string): void;
}

/** `mostBytes`: of what is kept, by what `bytesOf` tells of each; `packed` makes of each what is kept for it. */
export function createRecentRuns<T>(
  mostBytes: number,
  bytesOf: (value: T) => number,
  packed: (value: T) => T = (value) => value,
): RecentRuns<T> {
  // Two generations: putting each that is asked for last in one order would make garbage of every question.
  let young = new Map<string, T>();
  let youngBytes = 0;
  let old = new Map<string, T>();
  /** Ids that were asked for once lately. */
  let asked = new Set<string>();
  let askedBefore = new Set<string>();

  function isAskedAgain(id: string): boolean {
    if (asked.has(id) || askedBefore.has(id)) return true;
    asked.add(id);
    if (asked.size > mostAsked) [asked, askedBefore] = [new Set(), asked];
    return false;
  }

  function keep(id: string, value: T): void {
    const bytes = bytesOf(value);
    if (youngBytes + bytes > mostBytes / 2) [young, youngBytes, old] = [new Map(), 0, young];
    young.set(id, value);
    youngBytes += bytes;
  }

  return {
    get(id, read) {
      const known = young.get(id);
      if (known !== undefined) return known;
      const older = old.get(id);
      if (older !== undefined) {
        old.delete(id);
        keep(id, older);
        return older;
      }
      const value = read(id);
      // Whoever goes through all runs asks for each once; keeping those would cost more than it saves.
      if (value !== null && bytesOf(value) < mostBytes / 10 && isAskedAgain(id)) keep(id, packed(value));
      return value;
    },
    forget(id) {
      const value = young.get(id);
      if (value !== undefined) youngBytes -= bytesOf(value);
      young.delete(id);
      old.delete(id);
    },
  };
}

const mostAsked = 1_000;
