import type { RunEvent } from "#core/event.ts";
import { settleForMs, settlesInMs } from "#core/news.ts";
import type { Ref, RunId } from "#core/place.ts";
import type { RunRecord, Thread } from "#core/thread.ts";
import type { Timers } from "#engine/base/timers.ts";
import type { Clock } from "#ports.ts";
import type { Doubt } from "./doubt.ts";
import { quietFirstMs } from "./quiet.ts";

/** An unfinished run and its schedule. Times are milliseconds by `Clock.elapsed`. */
export interface OpenRun {
  readonly runId: RunId;
  readonly thread: Ref;
  /** The run's record as last saved, without the request, which may be long. */
  record: RunRecord;
  /** The timer for the record's settling deadline; null without one. */
  settling: Settling | null;
  /** Time of the last snapshot or, before the first, of this object's creation. */
  shownAt: number;
  /** How long lists may omit it before it is searched for. */
  quietMs: number;
  /** Time of the last change or follow-up. */
  changedAt: number;
  /** Lists of its name omit it, so it is fetched by id. */
  unlisted: boolean;
  /** Earliest time of the next fetch by id. */
  fetchAt: number;
  /** Since when, and how often, the API has refused to return it. */
  missing: { readonly since: number; readonly times: number } | null;
  /** Failed deliveries to its thread in a row, and the earliest time of the next one. */
  undelivered: { readonly failures: number; readonly notBefore: number } | null;
  /** Its changes that could not be saved, oldest first: each may be an end that no later one tells of. */
  held: readonly RunEvent[];
  /** Lists or fetches have shown a snapshot that may be outdated or news; null: none lately. */
  doubt: Doubt | null;
}

interface Settling {
  readonly deadline: string | null;
  isOver: boolean;
  readonly cancel: () => void;
}

/** The unfinished runs of all threads. */
export interface OpenRuns {
  /** Updates the runs of a saved or loaded thread. Returns whether an unfinished one is new. */
  onSaved(thread: Thread, isLoaded: boolean): boolean;
  get(runId: RunId): OpenRun | undefined;
  /** Removes a run that no thread has any more. */
  forget(runId: RunId): void;
  all(): readonly OpenRun[];
  size(): number;
}

/** Creates an empty set of open runs. */
export function createOpenRuns(clock: Clock, timers: Timers): OpenRuns {
  const runs = new Map<string, OpenRun>();
  const byThread = new Map<Ref, ReadonlySet<string>>();

  function forget(runId: RunId): void {
    runs.get(runId)?.settling?.cancel();
    runs.delete(runId);
  }

  function begin(runId: RunId, record: RunRecord, thread: Ref): OpenRun {
    forget(runId);
    const run: OpenRun = {
      runId,
      thread,
      record,
      settling: null,
      shownAt: clock.elapsed(),
      quietMs: quietFirstMs,
      changedAt: clock.elapsed(),
      unlisted: false,
      fetchAt: clock.elapsed(),
      missing: null,
      undelivered: null,
      held: [],
      doubt: null,
    };
    runs.set(runId, run);
    return run;
  }

  /**
   * Has a sweep look at the run after its deadline, which was decided at `decidedMs`. A loaded one proves nothing: the
   * clock may have been set.
   */
  function settle(run: OpenRun, decidedMs: number, isLoaded: boolean): void {
    const leftMs = settlesInMs(run.record, decidedMs);
    const waitMs = leftMs !== null && isLoaded ? settleForMs : leftMs;
    const deadline = run.record.settlesAt ?? null;
    if (waitMs !== null && run.settling?.deadline === deadline) return;
    run.settling?.cancel();
    run.settling = null;
    if (waitMs === null) return;
    run.changedAt = clock.elapsed();
    const settling: Settling = {
      deadline,
      isOver: false,
      cancel: timers.after(waitMs, () => {
        settling.isOver = true;
        run.shownAt = Number.NEGATIVE_INFINITY;
        run.fetchAt = Number.NEGATIVE_INFINITY;
      }),
    };
    run.settling = settling;
  }

  return {
    onSaved(thread, isLoaded) {
      const open = new Set<string>();
      let isNew = false;
      for (const record of thread.runs) {
        const { runId } = record;
        if (!record.open || runId === null) continue;
        open.add(runId);
        const known = runs.get(runId);
        const run = known?.thread === thread.id ? known : begin(runId, record, thread.id);
        isNew ||= run !== known;
        run.record = { ...record, request: null };
        settle(run, Date.parse(thread.changedAt), isLoaded && run !== known);
      }
      for (const runId of byThread.get(thread.id) ?? []) {
        if (!open.has(runId) && runs.get(runId)?.thread === thread.id) forget(runId);
      }
      if (open.size > 0) byThread.set(thread.id, open);
      else byThread.delete(thread.id);
      return isNew;
    },
    get: (runId) => runs.get(runId),
    forget,
    all: () => [...runs.values()],
    size: () => runs.size,
  };
}
