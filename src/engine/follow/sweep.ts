import type { Log } from "#base/log.ts";
import type { Run } from "#core/run.ts";
import { isApiFault } from "#engine/api/api-fault.ts";
import { readPages } from "#engine/api/read-pages.ts";
import type { AgentRuns, Clock } from "#ports.ts";
import { createFetchRun } from "./fetch-run.ts";
import type { OpenRun, OpenRuns } from "./open-runs.ts";
import type { Shown, ShowRun } from "./show-run.ts";
import { fetchesInTurn, namesInTurn, planSweep, quietOnes } from "./sweep-plan.ts";

export interface Swept {
  readonly requests: number;
  /** Runs that changed and whose threads heard of it. */
  readonly changed: number;
  /** Runs that changed and whose threads could not be saved. */
  readonly unsaved: number;
}

export interface Sweeper {
  /** One tick. Rejects like `AgentRuns` when the API can't be asked. */
  sweep(): Promise<Swept>;
  /** No run is unfinished: what comes next has nothing to do with what was seen last. */
  rest(): void;
}

/** How far sweeps of a name have come; times of the API's clock in milliseconds since the epoch. */
interface Watermark {
  /** The newest `updated_at` that complete sweeps have seen. */
  readonly newest: number;
  /** When it was first seen, by our clock. */
  readonly seenAt: number;
  /** When the last complete sweep was, by our clock. */
  readonly completeAt: number;
  /** The newest `updated_at` that any sweep has seen. */
  readonly front: number;
}

/** A change may become visible so long after another one that happened later. */
const overlapMs = 60_000;
/** How far the service's clock may be behind ours, where only ours is known. */
const clockMarginMs = 5 * 60_000;
const mostPages = 200;
const handedAtOnce = 16;

export function createSweeper(options: {
  readonly agentRuns: AgentRuns;
  readonly openRuns: OpenRuns;
  readonly show: ShowRun;
  readonly clock: Clock;
  readonly log: Log;
  readonly runName: string;
  /** Time between two single fetches of one run, at least. */
  readonly fetchIntervalMs: number;
  readonly stopped: () => boolean;
}): Sweeper {
  const { agentRuns, openRuns, show, clock, log, runName, stopped } = options;
  const watermarks = new Map<string, Watermark>();
  const listedAt = new Map<string, number>();

  const stillOpen = (runs: readonly OpenRun[]): readonly OpenRun[] =>
    runs.filter((run) => openRuns.get(run.runId) === run);

  async function sweep(): Promise<Swept> {
    const tally = { requests: 0, changed: 0, unsaved: 0 };
    const count = (shown: Shown): Shown => {
      if (shown === "changed") tally.changed += 1;
      if (shown === "unsaved") tally.unsaved += 1;
      return shown;
    };
    const list: AgentRuns["list"] = (query) => {
      tally.requests += 1;
      return agentRuns.list(query);
    };
    const fetchRun = createFetchRun({
      ...options,
      fetch: (runId) => {
        tally.requests += 1;
        return agentRuns.fetch(runId);
      },
    });
    const showAll = async (runs: readonly Run[], how: "changes" | "everything"): Promise<void> => {
      for (let at = 0; at < runs.length && !stopped(); at += handedAtOnce) {
        const shown = runs.slice(at, at + handedAtOnce).map(async (run) => {
          if (count(await show(run, how)) === "unsaved") fetchLater(openRuns.get(run.run_id));
        });
        await Promise.all(shown);
      }
    };

    async function listChanges(name: string, runs: readonly OpenRun[]): Promise<void> {
      listedAt.set(name, clock.now());
      const mark = watermarks.get(name);
      const after = mark === undefined ? earliestNews(runs) : startAfter(mark, clock.now());
      let newest = mark?.front ?? after;
      const reading = { name, by: "updated_at" as const, after, mostPages };
      const end = await readPages(list, reading, async (page) => {
        const news = tally.changed + tally.unsaved;
        for (const run of page) newest = Math.max(newest, Date.parse(run.updated_at) || 0);
        await showAll(page, "changes");
        if (stopped()) return "enough";
        return tally.changed + tally.unsaved === news && isBehind(page, mark, clock.now())
          ? "enough"
          : "more";
      });
      if (end === "cut") log.warn("A sweep found more runs than it could page through", { name });
      // Only what was seen whole need not be asked for again; what could not be saved is fetched singly.
      if (end === "complete") {
        const seenAt = newest === mark?.newest ? mark.seenAt : clock.now();
        watermarks.set(name, { newest, seenAt, completeAt: clock.now(), front: newest });
      } else if (mark !== undefined) watermarks.set(name, { ...mark, front: newest });
    }

    async function listEverything(name: string, runs: readonly OpenRun[]): Promise<void> {
      const after = Math.min(...runs.map(createdAt)) - clockMarginMs;
      const shown = new Set<string>();
      const reading = { name, by: "created_at" as const, after, mostPages };
      const end = await readPages(list, reading, async (page) => {
        for (const run of page) shown.add(run.run_id);
        await showAll(page, "everything");
        return stopped() ? "enough" : "more";
      });
      if (end === "enough") return;
      for (const run of quietOnes(runs, clock.now())) if (!shown.has(run.runId)) run.unlisted = true;
    }

    const plan = planSweep(openRuns.all(), runName);
    const due: OpenRun[] = [];
    let refusal: unknown = null;
    for (const name of namesInTurn(plan.byName.keys(), runName, (name) => listedAt.get(name) ?? 0)) {
      const runs = plan.byName.get(name) ?? [];
      try {
        if (stopped()) break;
        await listChanges(name, runs);
        const quiet = quietOnes(stillOpen(runs), clock.now());
        if (quiet.length > 1) await listEverything(name, stillOpen(runs));
        else due.push(...quiet);
      } catch (error) {
        if (!isLasting(error)) throw error;
        // The service does not list this name to us, yet may still show each run.
        if (name === runName) refusal = error;
        for (const run of runs) run.unlisted = true;
      }
    }
    const singly = planSweep(openRuns.all(), runName).singly;
    for (const run of [...due, ...fetchesInTurn(singly, clock.now())]) {
      if (stopped()) break;
      const listable = !singly.includes(run);
      const shown = count(await fetchRun(run));
      // The list of changes, read just before, should have shown it.
      if (listable && (shown === "changed" || shown === "unsaved")) run.unlisted = true;
    }
    if (refusal !== null) throw refusal;
    // Some that could not be saved yet were not due in this tick.
    return { ...tally, unsaved: openRuns.all().filter(({ handing }) => handing !== null).length };
  }

  return {
    sweep,
    rest() {
      watermarks.clear();
      listedAt.clear();
    },
  };
}

/** One run that can't be saved must not have all others of its name read again until it can be. */
function fetchLater(run: OpenRun | undefined): void {
  if (run === undefined) return;
  run.unlisted = true;
  run.fetchAt = Math.max(run.fetchAt, run.handing?.notBefore ?? 0);
}

const createdAt = (run: OpenRun): number => {
  const created = run.last === null ? Number.NaN : Date.parse(run.last.created_at);
  return Number.isNaN(created) ? run.since : created;
};

/**
 * What is as old as the newest change, or a little older, may only now have become visible; once that has
 * been the newest for long enough, nothing older can come any more, and is not read again and again.
 */
function startAfter(mark: Watermark, now: number): number {
  return now - mark.seenAt > overlapMs ? mark.newest - 1 : mark.newest - overlapMs;
}

/**
 * Whether what comes after a page in which nothing was new can wait: all of it was seen before, and only a
 * change that became visible late could be among it. That is looked for once in a while, so that a burst of
 * changes is not read again page by page at each tick.
 */
function isBehind(page: readonly Run[], mark: Watermark | undefined, now: number): boolean {
  const sinceMs = mark === undefined ? Number.NaN : now - mark.completeAt;
  if (mark === undefined || !(sinceMs >= 0 && sinceMs < overlapMs)) return false;
  const times = page.map((run) => Date.parse(run.updated_at));
  const isNewestFirst = times.every((time, at) => at === 0 || time <= (times[at - 1] ?? Number.NaN));
  return isNewestFirst && (times.at(-1) ?? Number.NaN) <= mark.front;
}

/**
 * From when on the first sweep must look, so that it shows each run that has changed: from the last word on
 * it, which is older than its being asked for where the API has said nothing yet.
 */
function earliestNews(runs: readonly OpenRun[]): number {
  const times = runs.map(({ handed, since }) =>
    Math.max((handed?.updatedAt || 0) - overlapMs, since - clockMarginMs),
  );
  return Math.min(...times);
}

/** An answer that the same request will get again, and that is not about our credentials as a whole. */
const isLasting = (error: unknown): boolean =>
  isApiFault(error) && error.certainty === "refused" && !error.retryable && error.status !== 401;
