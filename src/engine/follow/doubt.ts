/**
 * Schedules a fetch by id of a run that lists show at a snapshot which is not plainly newer than the record's. Lists
 * that lag, replicas that differ, and a clock that was set back all look alike there.
 */
import { type Standing, settleForMs } from "#core/news.ts";

/** What is known about such snapshots. Times are milliseconds by `Clock.elapsed`. */
export interface Doubt {
  /** A fetch is due at `fetchAt`. */
  readonly isOpen: boolean;
  readonly fetchAt: number;
  /** Fetches so far. */
  readonly fetches: number;
  /** Since when fetches have shown a snapshot that the run had passed. */
  readonly passedSince: number | null;
}

/** Time until the fetch after lists showed a snapshot that the run had passed: they mostly catch up by then. */
const passedFirstMs = 30_000;
const againFirstMs = 10_000;
const againMostMs = 10 * 60_000;
/** The longest wait while fetches show a passed snapshot, which may be the run's present one. */
const againPassedMs = 30_000;

/** Returns the doubt after a list showed a snapshot with this standing at `now`. */
export function doubtAfterList(doubt: Doubt | null, standing: Standing, now: number): Doubt | null {
  switch (standing) {
    case "newer":
      return null;
    case "same":
      return doubt && { ...doubt, isOpen: false, passedSince: null };
    case "passed":
    case "unclear": {
      if (doubt !== null && doubt.fetches > 0) return { ...doubt, isOpen: true };
      const fetchAt = standing === "passed" ? now + passedFirstMs : now;
      const isEarlier = doubt?.isOpen === true && doubt.fetchAt < fetchAt;
      return { isOpen: true, fetchAt: isEarlier ? doubt.fetchAt : fetchAt, fetches: 0, passedSince: null };
    }
    default:
      return standing satisfies never;
  }
}

/** Returns the doubt after a fetch showed a snapshot with this standing at `now`. */
export function doubtAfterFetch(doubt: Doubt | null, standing: Standing, now: number): Doubt | null {
  // The lists were right.
  if (standing === "unclear") return null;
  const isPassed = standing === "passed";
  if (!isPassed && !doubt?.isOpen) return doubt && { ...doubt, passedSince: null };
  const fetches = doubt?.fetches ?? 0;
  const waitMs = Math.min(againFirstMs * 2 ** fetches, isPassed ? againPassedMs : againMostMs);
  const passedSince = isPassed ? (doubt?.passedSince ?? now) : null;
  return { isOpen: isPassed, fetchAt: now + waitMs, fetches: fetches + 1, passedSince };
}

/** Returns whether fetches have shown a passed snapshot for so long that the run must be at it again. */
export const isLasting = (doubt: Doubt | null, now: number): boolean =>
  doubt !== null && doubt.passedSince !== null && now - doubt.passedSince >= settleForMs;
