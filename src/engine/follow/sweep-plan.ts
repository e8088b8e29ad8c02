import type { OpenRun } from "./open-runs.ts";

/** Requests for other names, and for single runs, in one tick; the rest has its turn in the next ones. */
const namesAtMost = 10;
const fetchesAtMost = 5;

export interface SweepPlan {
  /** The runs that one list request by their name shows. */
  readonly byName: ReadonlyMap<string, readonly OpenRun[]>;
  /** The runs that are fetched singly. */
  readonly singly: readonly OpenRun[];
}

/**
 * Whichever is fewer requests: one list for all runs of a name, or one fetch for each run. Our own name is
 * always listed; one lonely run of another name is fetched, since its name may be shared with many others.
 */
export function planSweep(runs: readonly OpenRun[], runName: string): SweepPlan {
  const groups = new Map<string, OpenRun[]>();
  const singly: OpenRun[] = [];
  for (const run of runs) {
    if (run.name === null || run.unlisted) {
      singly.push(run);
      continue;
    }
    const group = groups.get(run.name);
    if (group === undefined) groups.set(run.name, [run]);
    else group.push(run);
  }
  for (const [name, group] of groups) {
    if (name === runName || group.length > 1) continue;
    singly.push(...group);
    groups.delete(name);
  }
  return { byName: groups, singly };
}

/** The names whose turn it is: ours, then those that were listed longest ago. */
export function namesInTurn(
  names: Iterable<string>,
  runName: string,
  listedAt: (name: string) => number,
): readonly string[] {
  const all = [...names];
  const others = all.filter((name) => name !== runName).sort((one, two) => listedAt(one) - listedAt(two));
  return [...all.filter((name) => name === runName), ...others.slice(0, namesAtMost)];
}

/** The runs that are due to be fetched singly, those that wait longest first. */
export function fetchesInTurn(singly: readonly OpenRun[], now: number): readonly OpenRun[] {
  const due = singly.filter((run) => run.fetchAt <= now);
  return due.sort((one, two) => one.fetchAt - two.fetchAt).slice(0, fetchesAtMost);
}

/** The runs that nothing has shown for longer than they may stay quiet. */
export const quietOnes = (runs: readonly OpenRun[], now: number): readonly OpenRun[] =>
  runs.filter((run) => run.shownAt + run.quietMs <= now);
