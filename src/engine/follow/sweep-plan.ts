import type { OpenRun } from "./open-runs.ts";

/** The most lists of other names, and fetches by id, in one sweep. */
const mostOtherNames = 10;
const mostFetches = 5;
const mostDoubts = 16;

/** How to find each run. */
export interface SweepPlan {
  /** Runs to list, by name. */
  readonly byName: ReadonlyMap<string, readonly OpenRun[]>;
  /** Runs to fetch by id. */
  readonly fetched: readonly OpenRun[];
}

/**
 * Chooses between one list for all runs of a name and one fetch for each run. The bot's own name, `runName`, is
 * always listed. A single run of another name is fetched, since others' runs may share the name.
 */
export function planSweep(runs: readonly OpenRun[], runName: string): SweepPlan {
  const byName = new Map<string, OpenRun[]>();
  const fetched: OpenRun[] = [];
  for (const run of runs) {
    const { name } = run.record;
    if (name === null || run.unlisted) {
      fetched.push(run);
      continue;
    }
    const group = byName.get(name);
    if (group === undefined) byName.set(name, [run]);
    else group.push(run);
  }
  for (const [name, group] of byName) {
    if (name === runName || group.length > 1) continue;
    fetched.push(...group);
    byName.delete(name);
  }
  return { byName, fetched };
}

/** Returns the names to list in this sweep: `runName`, then those listed longest ago. */
export function namesInTurn(
  names: Iterable<string>,
  runName: string,
  listedAt: (name: string) => number,
): readonly string[] {
  const all = [...names];
  const others = all.filter((name) => name !== runName).sort((one, two) => listedAt(one) - listedAt(two));
  return [...all.filter((name) => name === runName), ...others.slice(0, mostOtherNames)];
}

/** Returns the runs to fetch in this sweep: those that have been due longest. `now` as in `OpenRun`. */
export function fetchesInTurn(runs: readonly OpenRun[], now: number): readonly OpenRun[] {
  const due = runs.filter((run) => run.fetchAt <= now);
  return due.sort((one, two) => one.fetchAt - two.fetchAt).slice(0, mostFetches);
}

/** Returns the runs to fetch in this sweep because of a snapshot in doubt: those that have been due longest. */
export function doubtsInTurn(runs: readonly OpenRun[], now: number): readonly OpenRun[] {
  const due = runs.flatMap((run) => {
    if (!run.doubt?.isOpen) return [];
    const at = Math.max(run.doubt.fetchAt, run.undelivered?.notBefore ?? 0);
    return at <= now ? [{ run, at }] : [];
  });
  const longest = due.sort((one, two) => one.at - two.at).slice(0, mostDoubts);
  return longest.map(({ run }) => run);
}

/** Returns the runs that have been without a snapshot for longer than `quietMs`. */
export const quietOnes = (runs: readonly OpenRun[], now: number): readonly OpenRun[] =>
  runs.filter((run) => run.shownAt + run.quietMs <= now);
