import type { Log } from "#base/log.ts";
import type { Run } from "#core/run.ts";
import { isApiFault } from "#engine/api/api-fault.ts";
import { readPages } from "#engine/api/read-pages.ts";
import type { AgentRuns, Clock } from "#ports.ts";
import { createFetchRun } from "./fetch-run.ts";
import type { OpenRun, OpenRuns } from "./open-runs.ts";
import type { Received, ReceiveRun, Source } from "./receive-run.ts";
import { fetchesInTurn, namesInTurn, planSweep, quietOnes } from "./sweep-plan.ts";

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

/** Progress of the sweeps of one name. Times are milliseconds since the epoch. */
interface Watermark {
  /** The newest `updated_at` seen by sweeps that read all changes, by the API's clock. */
  readonly newest: number;
  /** When it was first seen, by our clock. */
  readonly seenAt: number;
  /** Time of the last such sweep, by our clock. */
  readonly completeAt: number;
  /** The newest `updated_at` seen by any sweep, by the API's clock. */
  readonly front: number;
}

/** A change may appear in lists so much later than a change after it. */
const overlapMs = 60_000;
/** How far the API's clock may be behind ours. */
const clockMarginMs = 5 * 60_000;
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
  const watermarks = new Map<string, Watermark>();
  const listedAt = new Map<string, number>();

  const stillOpen = (runs: readonly OpenRun[]): readonly OpenRun[] =>
    runs.filter((run) => openRuns.get(run.runId) === run);

  async function sweep(): Promise<Swept> {
    let requests = 0;
    let changed = 0;
    let news = 0;
    const count = (received: Received): Received => {
      if (received === "delivered") changed += 1;
      if (received === "delivered" || received === "undelivered") news += 1;
      return received;
    };
    const list: AgentRuns["list"] = (query) => {
      requests += 1;
      return agentRuns.list(query);
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
      listedAt.set(name, clock.now());
      const mark = watermarks.get(name);
      const after = mark === undefined ? earliestChange(runs) : startAfter(mark, clock.now());
      let newest = mark?.front ?? after;
      const reading = { name, by: "updated_at" as const, after, mostPages };
      const end = await readPages(list, reading, async (page) => {
        const newsBefore = news;
        for (const run of page) newest = Math.max(newest, Date.parse(run.updated_at) || 0);
        await receiveAll(page, "changes");
        if (stopped()) return "enough";
        return news === newsBefore && isBehind(page, mark, clock.now()) ? "enough" : "more";
      });
      if (end === "cut") log.warn("A sweep found more runs than it could page through", { name });
      // Undelivered changes don't count: their runs are fetched by id.
      if (end === "complete") {
        const seenAt = newest === mark?.newest ? mark.seenAt : clock.now();
        watermarks.set(name, { newest, seenAt, completeAt: clock.now(), front: newest });
      } else if (mark !== undefined) watermarks.set(name, { ...mark, front: newest });
    }

    async function listAll(name: string, runs: readonly OpenRun[]): Promise<void> {
      const after = Math.min(...runs.map(createdAt)) - clockMarginMs;
      const shown = new Set<string>();
      const reading = { name, by: "created_at" as const, after, mostPages };
      const end = await readPages(list, reading, async (page) => {
        for (const run of page) shown.add(run.run_id);
        await receiveAll(page, "all");
        return stopped() ? "enough" : "more";
      });
      if (end === "enough") return;
      for (const run of quietOnes(runs, clock.now())) if (!shown.has(run.runId)) run.unlisted = true;
    }

    const { byName } = planSweep(openRuns.all(), runName);
    const overdue: OpenRun[] = [];
    let refusal: unknown = null;
    for (const name of namesInTurn(byName.keys(), runName, (name) => listedAt.get(name) ?? 0)) {
      const runs = byName.get(name) ?? [];
      try {
        if (stopped()) break;
        await listChanges(name, runs);
        const quiet = quietOnes(stillOpen(runs), clock.now());
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
    for (const run of [...overdue, ...fetchesInTurn(fetched, clock.now())]) {
      if (stopped()) break;
      const received = count(await fetchRun(run));
      // The list of changes, read just before, should have included it.
      const wasMissed = received === "delivered" || received === "undelivered";
      if (wasMissed && !fetched.includes(run)) run.unlisted = true;
    }
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

/** Time of the request, by our clock. */
const askedAt = ({ record }: OpenRun): number => Date.parse(record.since) || 0;

const createdAt = (run: OpenRun): number => Date.parse(run.record.run?.created_at ?? "") || askedAt(run);

/** Changes just before the newest may appear late; they are read again until it has been known for `overlapMs`. */
const startAfter = ({ seenAt, newest }: Watermark, now: number): number =>
  now - seenAt > overlapMs ? newest - 1 : newest - overlapMs;

/**
 * Returns true if the pages after this one hold only changes that earlier sweeps read, or that appeared late; the
 * late ones are read once every `overlapMs`, so that a burst of changes is not read again at each tick.
 */
function isBehind(page: readonly Run[], mark: Watermark | undefined, now: number): boolean {
  const sinceMs = mark === undefined ? Number.NaN : now - mark.completeAt;
  if (mark === undefined || !(sinceMs >= 0 && sinceMs < overlapMs)) return false;
  const times = page.map((run) => Date.parse(run.updated_at));
  const isNewestFirst = times.every((time, at) => at === 0 || time <= (times[at - 1] ?? Number.NaN));
  return isNewestFirst && (times.at(-1) ?? Number.NaN) <= mark.front;
}

/** Returns the start of a first sweep: the oldest of the runs' last snapshots or, where there is none, requests. */
function earliestChange(runs: readonly OpenRun[]): number {
  const times = runs.map((run) => {
    const updatedAt = Date.parse(run.record.run?.updated_at ?? "") || 0;
    return Math.max(updatedAt - overlapMs, askedAt(run) - clockMarginMs);
  });
  return Math.min(...times);
}

/** Returns whether a retry would be refused too, for a reason other than our credentials. */
const isLasting = (error: unknown): boolean =>
  isApiFault(error) && error.certainty === "refused" && !error.retryable && error.status !== 401;
