import type { OpenRun } from "./open-runs.ts";

/** Lists of other names, and fetches of single runs, in one sweep at most. */
const mostOtherNames = 10;
const mostFetches = 5;

export interface SweepPlan {
  /** The runs that are found by listing their name. */
  readonly byName: ReadonlyMap<string, readonly OpenRun[]>;
  readonly fetched: readonly OpenRun[];
}

/**
 * Chooses whichever takes fewer requests: one list for all runs of a name, or one fetch a run. Our own name,
 * `runName`, is always listed. A single run of another name is fetched: other people's runs may share the name.
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

/** The names to list in this sweep: ours, then those that were listed longest ago. */
export function namesInTurn(
  names: Iterable<string>,
  runName: string,
  listedAt: (name: string) => number,
): readonly string[] {
  const all = [...names];
  const others = all.filter((name) => name !== runName).sort((one, two) => listedAt(one) - listedAt(two));
  return [...all.filter((name) => name === runName), ...others.slice(0, mostOtherNames)];
}

/** The runs to fetch in this sweep: those that have been due longest. */
export function fetchesInTurn(runs: readonly OpenRun[], now: number): readonly OpenRun[] {
  const due = runs.filter((run) => run.fetchAt <= now);
  return due.sort((one, two) => one.fetchAt - two.fetchAt).slice(0, mostFetches);
}

/** The runs that nothing has shown for longer than they may stay unshown. */
export const quietOnes = (runs: readonly OpenRun[], now: number): readonly OpenRun[] =>
  runs.filter((run) => run.shownAt + run.quietMs <= now);
