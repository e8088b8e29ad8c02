import type { Ref } from "#core/place.ts";
import { isEnded, type Run } from "#core/run.ts";
import type { RunRecord, Thread } from "#core/thread.ts";

/** An unfinished run, and how the poller stands with it. Times are milliseconds by our clock. */
export interface OpenRun {
  readonly runId: string;
  readonly thread: Ref;
  /** Config name that sweeps find it by; null: unknown. */
  name: string | null;
  /** When it was asked for. */
  readonly since: number;
  readonly title: string;
  /** The API's last word that its thread holds. */
  last: RunRecord["run"];
  /** What was handed to its thread last. */
  handed: { readonly key: string; readonly updatedAt: number } | null;
  /** Handings that failed in a row, and when the next may be. */
  handing: { readonly failures: number; readonly notBefore: number } | null;
  /** When the API last showed it; before that, when it was noticed. */
  shownAt: number;
  /** How long it may stay unshown before it is looked for. */
  quietMs: number;
  /** When it last changed, or took a follow-up, as far as we know. */
  changedAt: number;
  /** It has ended or taken a follow-up, and what it was last heard to be may not be its last word. */
  settling: boolean;
  /** A follow-up is on its way to it. */
  steered: boolean;
  /** What it is settling to has had the time to show. */
  waited: boolean;
  /** The thread's, as far as is known. */
  decided: number;
  /** Calls off the wait for that. */
  callOff: () => void;
  /** Sweeps by its name don't show it, so it is fetched singly. */
  unlisted: boolean;
  /** When it may be fetched singly again. */
  fetchAt: number;
  /** Since when, and how often, the API has answered that there is no such run. */
  missing: { readonly since: number; readonly times: number } | null;
}

/** What tells one word of the API on a run from the next. */
export const keyOf = (run: Pick<Run, "updated_at" | "state">): string => `${run.updated_at} ${run.state}`;

/** Of an open record. */
const isSettling = ({ reopened, run }: RunRecord): boolean =>
  reopened || (run !== null && isEnded(run.state));

const isSteered = ({ dispatch }: RunRecord, { effects }: Thread): boolean =>
  effects.some((effect) => effect.kind === "follow-up" && effect.dispatch === dispatch);

const handedOf = (run: RunRecord["run"]): OpenRun["handed"] =>
  run === null ? null : { key: keyOf(run), updatedAt: Date.parse(run.updated_at) };

export interface OpenRuns {
  /** Takes note of a thread as it was saved; answers whether it has an unfinished run that is new here. */
  know(thread: Thread): boolean;
  get(runId: string): OpenRun | undefined;
  /** Of a run that no thread holds any more. */
  forget(runId: string): void;
  all(): readonly OpenRun[];
  size(): number;
}

/**
 * The unfinished runs of all threads; `firstQuietMs` is how long a new one may stay unshown. `later` calls back
 * when what a run settles to has had the time to show: a timer, since a clock may be put forward meanwhile.
 */
export function createOpenRuns(
  now: () => number,
  firstQuietMs: number,
  later: (then: () => void) => () => void,
): OpenRuns {
  const runs = new Map<string, OpenRun>();
  const byThread = new Map<Ref, ReadonlySet<string>>();

  function wait(run: OpenRun): void {
    run.callOff();
    run.changedAt = now();
    run.waited = false;
    run.callOff = later(() => {
      run.waited = true;
    });
  }

  function end(runId: string): void {
    runs.get(runId)?.callOff();
    runs.delete(runId);
  }

  function begin(runId: string, record: RunRecord, thread: Thread): void {
    const since = Date.parse(record.since);
    const run: OpenRun = {
      runId,
      thread: thread.id,
      name: record.name,
      since: Number.isNaN(since) ? now() : since,
      title: record.request?.title ?? record.asked,
      last: record.run,
      handed: handedOf(record.run),
      handing: null,
      shownAt: now(),
      quietMs: firstQuietMs,
      changedAt: now(),
      settling: isSettling(record),
      steered: isSteered(record, thread),
      unlisted: false,
      fetchAt: now(),
      missing: null,
      waited: false,
      decided: thread.decided,
      callOff: () => {},
    };
    end(runId);
    runs.set(runId, run);
    if (run.settling) wait(run);
  }

  return {
    know(thread) {
      const open = new Set<string>();
      let isNew = false;
      for (const record of thread.runs) {
        const { runId } = record;
        if (!record.open || runId === null) continue;
        open.add(runId);
        const known = runs.get(runId);
        if (known === undefined || known.thread !== thread.id) {
          begin(runId, record, thread);
          isNew = true;
          continue;
        }
        known.name = record.name;
        known.decided = thread.decided;
        const settling = isSettling(record);
        const steered = isSteered(record, thread);
        const isNews =
          record.run !== null && (known.last === null || keyOf(known.last) !== keyOf(record.run));
        if (settling && (known.steered || isNews || !known.settling)) wait(known);
        known.settling = settling;
        known.steered = steered;
        if (isNews) {
          known.last = record.run;
          known.handed = handedOf(record.run);
        }
      }
      for (const runId of byThread.get(thread.id) ?? []) {
        if (!open.has(runId) && runs.get(runId)?.thread === thread.id) end(runId);
      }
      if (open.size > 0) byThread.set(thread.id, open);
      else byThread.delete(thread.id);
      return isNew;
    },
    get: (runId) => runs.get(runId),
    forget: end,
    all: () => [...runs.values()],
    size: () => runs.size,
  };
}

/** The event's run for one that the API has forgotten: its last word on it, ended by us. */
export function vanished(run: OpenRun, now: number): Run {
  const last = run.last;
  const known = last === null ? Number.NaN : Date.parse(last.updated_at);
  return {
    ...last,
    run_id: run.runId,
    title: last?.title ?? run.title,
    prompt: "",
    state: "ERROR",
    created_at: last?.created_at ?? new Date(run.since).toISOString(),
    // Later than all that was heard, however the clocks differ.
    updated_at: new Date(Number.isNaN(known) ? now : Math.max(known + 1, now)).toISOString(),
    status_message: { message: "The API no longer knows this run." },
  };
}
