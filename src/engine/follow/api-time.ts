/** The API's clock as its responses show it, and the times that lists must be read from. Ours proves nothing. */
import { skewMs, windowStart } from "#base/window.ts";
import type { Run } from "#core/run.ts";
import type { Clock } from "#ports.ts";
import type { OpenRun } from "./open-runs.ts";

/** Times are milliseconds since the epoch by the API's clock. */
export interface ApiTime {
  /** Takes note of the times in a page of runs; `servedAt` as in `RunPage`. */
  note(runs: readonly Run[], servedAt: number | undefined): void;
  /** Returns the present time or, where the API doesn't give it, the newest time seen; null before the first page. */
  now(): number | null;
  /**
   * Returns the start of a list of all changes since the newest one seen, at `newest`, and for `backMs` before it. A
   * time from a clock that has been set back since doesn't count.
   */
  after(newest: number, backMs: number): number;
  /** Returns the start of the list that has also the changes after a step of the clock back from there. */
  wellBefore(after: number): number;
  /** Returns a time before all changes (or creations) of the runs that are not known yet; null if it can't tell. */
  before(runs: readonly OpenRun[], by: "updated_at" | "created_at"): number | null;
}

/** Creates `ApiTime` before the first page. */
export function createApiTime(clock: Clock): ApiTime {
  let seen: { readonly ms: number; readonly servedAt: number | null } | null = null;

  function now(): number | null {
    if (seen === null) return null;
    return seen.servedAt === null ? seen.ms : seen.ms + clock.elapsed() - seen.servedAt;
  }

  /** Returns a time before the change. A run without a snapshot is as old as its request, by our clock. */
  function startOf({ record: { run, since } }: OpenRun, by: "updated_at" | "created_at"): number | null {
    // Before the first snapshot, `updated_at` is the beginning of the epoch.
    const updatedAt = Date.parse(run?.updated_at ?? "") || 0;
    if (run !== null && updatedAt > 0) return Math.min(Date.parse(run[by]) || 0, updatedAt) - skewMs;
    const present = now();
    return present === null ? null : windowStart(present, clock.now() - (Date.parse(since) || 0));
  }

  return {
    note(runs, servedAt) {
      if (servedAt !== undefined) {
        seen = { ms: servedAt, servedAt: clock.elapsed() };
        return;
      }
      const newest = Math.max(...runs.map((run) => Date.parse(run.updated_at) || 0));
      if (newest > (seen?.ms ?? 0)) seen = { ms: newest, servedAt: null };
    },
    now,
    after: (newest, backMs) => Math.min(newest, now() ?? newest) - backMs,
    wellBefore: (after) =>
      (seen?.servedAt == null ? after : Math.min(after + skewMs, now() ?? after)) - skewMs,
    before(runs, by) {
      let least = Number.POSITIVE_INFINITY;
      for (const run of runs) {
        const time = startOf(run, by);
        if (time === null) return null;
        least = Math.min(least, time);
      }
      return least;
    },
  };
}
