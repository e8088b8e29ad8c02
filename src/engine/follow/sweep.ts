import type { Log } from "#base/log.ts";
import { skewMs } from "#base/window.ts";
import type { Run } from "#core/run.ts";
import { isApiFault } from "#engine/api/api-fault.ts";
import { readPages } from "#engine/api/read-pages.ts";
import type { AgentRuns, Clock } from "#ports.ts";
import { createApiTime } from "./api-time.ts";
import { createFetchRun } from "./fetch-run.ts";
import type { OpenRun, OpenRuns } from "./open-runs.ts";
import type { Received, ReceiveRun, Source } from "./receive-run.ts";
import { doubtsInTurn, fetchesInTurn, namesInTurn, planSweep, quietOnes } from "./sweep-plan.ts";

/** Result of a sweep. */
export interface Swept {
  readonly requests: number;
  /** Changes delivered to their threads. */
  readonly changed: number;
  /** Runs whose change could not be delivered, since their thread can't be saved. */
  readonly undelivered: number;
}

/** Finds changes of the open runs. */
export interface Sweeper {
  /** Finds and delivers changes of all open runs once. Rejects like `AgentRuns`. */
  sweep(): Promise<Swept>;
  /** Forgets the progress of earlier sweeps; to be called when no run is open. */
  reset(): void;
}

/** Progress of the sweeps of one name. `newest` and `front` are by the API's clock, the rest by `Clock.elapsed`. */
interface Watermark {
  /** The newest `updated_at` seen by sweeps that read all changes. */
  readonly newest: number;
  /** When it was first seen. */
  readonly seenAt: number;
  /** Time of the last such sweep. */
  readonly completeAt: number;
  /** Time of the last sweep that looked back by `skewMs`. */
  readonly wideAt: number;
  /** The newest `updated_at` seen by any sweep. */
  readonly front: number;
}

/** A change may appear in lists so much later than a change after it. */
const overlapMs = 60_000;
/** So often a sweep looks back by `skewMs`, since the API's clock may have been set back. */
const wideEveryMs = 30_000;
/** So often it does so even if it must read all changes. */
const wideWholeMs = 5 * 60_000;
const mostPages = 200;
const mostAtOnce = 16;

/** Creates the sweeper, which sends one list request for each name rather than one request for each run. */
export function createSweeper(options: {
  readonly agentRuns: AgentRuns;
  readonly openRuns: OpenRuns;
  readonly receive: ReceiveRun;
  readonly clock: Clock;
  readonly log: Log;
  /** Config name of the bot's runs. */
  readonly runName: string;
  /** The shortest time between two fetches of one run. */
  readonly fetchIntervalMs: number;
  readonly stopped: () => boolean;
}): Sweeper {
  const { agentRuns, openRuns, receive, clock, log, runName, stopped } = options;
  const apiTime = createApiTime(clock);
  const watermarks = new Map<string, Watermark>();
  const listedAt = new Map<string, number>();
  /** Until then every sweep looks back by `skewMs`, since the API's clock has been set back. */
  let wideUntil = Number.NEGATIVE_INFINITY;

  const stillOpen = (runs: readonly OpenRun[]): readonly OpenRun[] =>
    runs.filter((run) => openRuns.get(run.runId) === run);

  async function sweep(): Promise<Swept> {
    let requests = 0;
    let changed = 0;
    let news = 0;
    const count = (received: Received): Received => {
      if (received === "delivered") changed += 1;
      if (isNewsOf(received)) news += 1;
      return received;
    };
    const list: AgentRuns["list"] = async (query) => {
      requests += 1;
      const page = await agentRuns.list(query);
      apiTime.note(page.runs, page.servedAt);
      return page;
    };
    const fetchRun = createFetchRun({
      ...options,
      fetch: (runId) => {
        requests += 1;
        return agentRuns.fetch(runId);
      },
    });

    async function receiveAll(runs: readonly Run[], source: Source): Promise<void> {
      for (let at = 0; at < runs.length && !stopped(); at += mostAtOnce) {
        const received = runs.slice(at, at + mostAtOnce).map(async (run) => {
          if (count(await receive(run, source)) === "undelivered") fetchLater(openRuns.get(run.run_id));
        });
        await Promise.all(received);
      }
    }

    async function listChanges(name: string, runs: readonly OpenRun[]): Promise<void> {
      const now = clock.elapsed();
      listedAt.set(name, now);
      const mark = watermarks.get(name);
      const isWide = mark === undefined || now < wideUntil || isWideDue(mark, now);
      const latest =
        mark === undefined ? Number.NEGATIVE_INFINITY : apiTime.after(mark.newest, overlapOf(mark, now));
      const isKnown = (run: Run): boolean => Date.parse(run.updated_at) <= latest;
      let after = mark === undefined ? apiTime.before(runs, "updated_at") : latest;
      if (mark !== undefined && isWide) after = apiTime.wellBefore(latest);
      let newest = mark?.front ?? after ?? 0;
      let isPast = false;
      const reading = { name, by: "updated_at" as const, mostPages, ...(after === null ? {} : { after }) };
      const end = await readPages(list, reading, async (page) => {
        let newsBefore = news;
        for (const run of page) newest = Math.max(newest, Date.parse(run.updated_at) || 0);
        const known = page.filter(isKnown);
        await receiveAll(known.length === 0 ? page : page.filter((run) => !isKnown(run)), "changes");
        // Looking back goes on only where it finds something.
        if (known.length > 0) newsBefore = news;
        await receiveAll(known, "changes");
        if (stopped()) return "enough";
        after ??= apiTime.before(runs, "updated_at");
        isPast = after !== null && isBefore(page, after);
        if (isPast) return "enough";
        return news === newsBefore && isBehind(page, mark, clock.elapsed()) ? "enough" : "more";
      });
      if (end === "cut") log.warn("A sweep found more runs than it could page through", { name });
      const wideAt = isWide ? now : mark.wideAt;
      // Undelivered changes don't count: their runs are fetched by id.
      if (end === "complete" || isPast) {
        // Times from a clock that has been set back since don't count either.
        newest = Math.min(newest, apiTime.now() ?? newest);
        const seenAt = newest === mark?.newest ? mark.seenAt : clock.elapsed();
        watermarks.set(name, { newest, seenAt, completeAt: clock.elapsed(), wideAt, front: newest });
      } else if (mark !== undefined) watermarks.set(name, { ...mark, wideAt, front: newest });
    }

    async function listAll(name: string, runs: readonly OpenRun[]): Promise<void> {
      const after = apiTime.before(runs, "created_at");
      const sought = new Set(runs.map(({ runId }) => runId));
      const reading = { name, by: "created_at" as const, mostPages, ...(after === null ? {} : { after }) };
      await readPages(list, reading, async (page) => {
        for (const run of page) sought.delete(run.run_id);
        await receiveAll(page, "all");
        return stopped() || sought.size === 0 ? "enough" : "more";
      });
      if (stopped()) return;
      for (const run of quietOnes(runs, clock.elapsed())) if (sought.has(run.runId)) run.unlisted = true;
    }

    async function fetchAll(runs: readonly OpenRun[], then: (run: OpenRun, received: Received) => void) {
      for (let at = 0; at < runs.length && !stopped(); at += mostAtOnce) {
        const fetching = runs.slice(at, at + mostAtOnce).map(async (run) => {
          then(run, count(await fetchRun(run)));
        });
        const failed = (await Promise.allSettled(fetching)).find(({ status }) => status === "rejected");
        if (failed?.status === "rejected") throw failed.reason;
      }
    }

    const { byName } = planSweep(openRuns.all(), runName);
    const overdue: OpenRun[] = [];
    let refusal: unknown = null;
    for (const name of namesInTurn(
      byName.keys(),
      runName,
      (name) => listedAt.get(name) ?? Number.NEGATIVE_INFINITY,
    )) {
      const runs = byName.get(name) ?? [];
      try {
        if (stopped()) break;
        await listChanges(name, runs);
        const quiet = quietOnes(stillOpen(runs), clock.elapsed());
        if (quiet.length > 1) await listAll(name, stillOpen(runs));
        else overdue.push(...quiet);
      } catch (error) {
        if (!isLasting(error)) throw error;
        // The API refuses to list this name, but may return each run by id.
        if (name === runName) refusal = error;
        for (const run of runs) run.unlisted = true;
      }
    }
    // A new plan, since some runs have turned out to be unlisted.
    const { fetched } = planSweep(openRuns.all(), runName);
    await fetchAll(doubtsInTurn(openRuns.all(), clock.elapsed()), (run, received) => {
      if (isNewsOf(received) && run.doubt === null) wideUntil = clock.elapsed() + skewMs;
      if (received === "undelivered") fetchLater(run);
    });
    await fetchAll([...overdue, ...fetchesInTurn(fetched, clock.elapsed())], (run, received) => {
      // The list of changes, read just before, should have included it.
      if (isNewsOf(received) && !fetched.includes(run)) run.unlisted = true;
    });
    if (refusal !== null) throw refusal;
    const undelivered = openRuns.all().filter((run) => run.undelivered !== null).length;
    return { requests, changed, undelivered };
  }

  return {
    sweep,
    reset() {
      watermarks.clear();
      listedAt.clear();
    },
  };
}

/** Otherwise the undelivered run would cause the changes of all others to be listed again. */
function fetchLater(run: OpenRun | undefined): void {
  if (run === undefined) return;
  run.unlisted = true;
  run.fetchAt = Math.max(run.fetchAt, run.undelivered?.notBefore ?? 0);
}

const isNewsOf = (received: Received): boolean => received === "delivered" || received === "undelivered";

/** Changes just before the newest may appear late; they are read again until it has been known for `overlapMs`. */
const overlapOf = ({ seenAt }: Watermark, now: number): number => (now - seenAt > overlapMs ? 1 : overlapMs);

/** Returns whether the next sweep must read all changes. */
const isIncomplete = ({ completeAt }: Watermark, now: number): boolean => now - completeAt >= overlapMs;

/** Returns whether to look back by `skewMs`: mostly in a sweep that need not read all pages. */
const isWideDue = (mark: Watermark, now: number): boolean =>
  now - mark.wideAt >= (isIncomplete(mark, now) ? wideWholeMs : wideEveryMs);

/**
 * Returns true if the pages after this one hold only changes that earlier sweeps read, or that appeared late; the
 * late ones are read once every `overlapMs`, so that a burst of changes is not read again at each tick.
 */
function isBehind(page: readonly Run[], mark: Watermark | undefined, now: number): boolean {
  if (mark === undefined || isIncomplete(mark, now)) return false;
  const times = page.map((run) => Date.parse(run.updated_at));
  const isNewestFirst = times.every((time, at) => at === 0 || time <= (times[at - 1] ?? Number.NaN));
  return isNewestFirst && (times.at(-1) ?? Number.NaN) <= mark.front;
}

/** Returns whether all runs of the page are older. */
const isBefore = (page: readonly Run[], after: number): boolean =>
  page.length > 0 && page.every((run) => Date.parse(run.updated_at) < after);

/** Returns whether a retry would be refused too, for a reason other than our credentials. */
const isLasting = (error: unknown): boolean =>
  isApiFault(error) && error.certainty === "refused" && !error.retryable && error.status !== 401;
