/** How long lists may omit a run before it is searched for. Times are in milliseconds. */

/** Before a list has shown it, and after a change that the list of changes missed. */
export const quietFirstMs = 30_000;
const mostMs = 60 * 60_000;
/** Once lists have shown it: so long for each open run, which bounds the cost of many, within these limits. */
const perRunMs = 6_000;
const listedLeastMs = 60_000;
const listedMostMs = 5 * 60_000;

/** Returns the time after the list of changes has shown the run; `openRuns`: number of open runs. */
export const quietMsListed = (openRuns: number): number =>
  Math.min(Math.max(openRuns * perRunMs, listedLeastMs), listedMostMs);

/** Returns the time after the run was found unchanged in another way, which grows. */
export const quietMsUnchanged = (quietMs: number): number => Math.min(quietMs * 2, mostMs);
