import type { Run } from "./run-document.ts";

/** The runs that were asked for lately and again, as they are on the disk: who waits for a run asks and asks. */
export interface RecentRuns {
  /** The one with the id, read with `read` if it is not at hand. */
  get(id: string, read: (id: string) => Run | null): Run | null;
  /** The run is not any more what it was. */
  forget(id: string): void;
}

/** `mostCharacters`: of the prompts of those that are kept. */
export function createRecentRuns(mostCharacters: number): RecentRuns {
  /** The one that was asked for last is last. */
  const kept = new Map<string, Run>();
  let characters = 0;
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
    const run = kept.get(id);
    if (run === undefined) return;
    kept.delete(id);
    characters -= weightOf(run);
  }

  return {
    get(id, read) {
      const known = kept.get(id);
      if (known !== undefined) {
        kept.delete(id);
        kept.set(id, known);
        return known;
      }
      const run = read(id);
      // Whoever goes through all runs asks for each once; keeping those would cost more than it saves.
      if (run === null || weightOf(run) > mostCharacters / 10 || !isAskedAgain(id)) return run;
      kept.set(id, run);
      characters += weightOf(run);
      for (const oldest of kept.keys()) {
        if (characters <= mostCharacters) break;
        forget(oldest);
      }
      return run;
    },
    forget,
  };
}

const mostAsked = 2_000;

/** What else belongs to a run is about as long as a short prompt. */
const weightOf = (run: Run): number => run.prompt.length + 1_000;
