import { backoffMs } from "#base/backoff.ts";
import type { Log } from "#base/log.ts";
import { reasonOf } from "#base/reason.ts";
import { isEnded, type Run } from "#core/run.ts";
import type { Clock } from "#ports.ts";
import { keyOf, type OpenRun, type OpenRuns } from "./open-runs.ts";

/** Has the run decided in its thread, `waited` as in `RunEvent`; `gone` if no thread holds it. Rejects as the store does. */
export type Hand = (run: Run, waited: number | null) => Promise<"handed" | "gone">;

/** `unknown`: not one of our unfinished runs. `unsaved`: it changed, and its thread could not be saved. */
export type Shown = "unknown" | "same" | "changed" | "unsaved";
export type ShowRun = (run: Run, how: "changes" | "everything" | "single") => Promise<Shown>;

/** How long a run may stay unshown: at first, once sweeps have shown it, and at most. */
export const quiet = { firstMs: 30_000, shownMs: 5 * 60_000, mostMs: 60 * 60_000 };
/** What comes of a follow-up shows within this time, also in lists that lag. */
export const confirmMs = 90_000;
/** A look that came a little too early is repeated after so long. */
const confirmAgainMs = 1_000;
const handFirstMs = 1_000;
const handMostMs = 5 * 60_000;

const mayBeOver = ({ state }: Run): boolean => isEnded(state) || state === "BLOCKED";

/**
 * Takes one run as the API shows it, and hands it to its thread if it is ours, unfinished and changed. `how`
 * tells by what it was shown: a sweep of changes, a sweep of everything, or a single fetch.
 */
export function createShowRun(options: {
  readonly openRuns: OpenRuns;
  readonly hand: Hand;
  readonly clock: Clock;
  readonly log: Log;
}): ShowRun {
  const { openRuns, hand, clock, log } = options;

  function isNews(known: OpenRun, run: Run, how: Parameters<ShowRun>[1]): boolean {
    if (known.handed === null) return true;
    if (known.handed.key === keyOf(run)) {
      if (!mayBeOver(run)) return false;
      // Something may still come of a follow-up; that nothing did is news once it had the time to show.
      if (known.settling) return known.waited;
      // A thread that missed an end, for whatever reason, hears of it again where that is seldom.
      return how !== "changes";
    }
    // A replica of the service may be behind; only what is not older counts.
    return !(Date.parse(run.updated_at) < known.handed.updatedAt);
  }

  /** A run that only the rarer look shows as changed will be looked for soon again, another ever later. */
  function quietAfter(known: OpenRun, run: Run, how: Parameters<ShowRun>[1], changed: boolean): number {
    if (changed && (isEnded(run.state) || known.settling)) return confirmMs;
    if (known.settling && mayBeOver(run)) {
      return Math.max(confirmAgainMs, known.changedAt + confirmMs - clock.now());
    }
    if (how === "changes") return quiet.shownMs;
    return changed ? quiet.firstMs : Math.min(known.quietMs * 2, quiet.mostMs);
  }

  return async (run, how) => {
    const known = openRuns.get(run.run_id);
    if (known === undefined) return "unknown";
    const changed = isNews(known, run, how);
    known.shownAt = clock.now();
    known.quietMs = quietAfter(known, run, how, changed);
    if (how === "changes") known.unlisted = false;
    known.missing = null;
    if (!changed) return "same";
    if (known.handing !== null && known.handing.notBefore > clock.now()) return "unsaved";
    known.changedAt = clock.now();
    try {
      const handed = { key: keyOf(run), updatedAt: Date.parse(run.updated_at) };
      if ((await hand(run, known.settling && known.waited ? known.decided : null)) === "gone")
        openRuns.forget(run.run_id);
      known.handed = handed;
      known.handing = null;
      return "changed";
    } catch (error) {
      const failures = (known.handing?.failures ?? 0) + 1;
      const waitMs = backoffMs(failures, handFirstMs, handMostMs, clock.random());
      known.handing = { failures, notBefore: clock.now() + waitMs };
      if (failures === 1) {
        log.error("What became of a run could not be saved; it is tried again", {
          run: run.run_id,
          reason: reasonOf(error),
        });
      }
      return "unsaved";
    }
  };
}
