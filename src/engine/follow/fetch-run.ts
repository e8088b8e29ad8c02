import { backoffMs } from "#base/backoff.ts";
import type { Log } from "#base/log.ts";
import { lostRun } from "#core/news.ts";
import type { Run } from "#core/run.ts";
import { isApiFault } from "#engine/api/api-fault.ts";
import type { AgentRuns, Clock } from "#ports.ts";
import type { OpenRun } from "./open-runs.ts";
import type { Received, ReceiveRun } from "./receive-run.ts";

/** The interval between fetches is the time since the run's last change, divided by this. */
const fetchesPerAge = 6;
const longestIntervalMs = 60_000;
const retryFirstMs = 30_000;
const retryMostMs = 10 * 60_000;
/** A run is given up after the API has not known it for so long and so many times. */
const missingForMs = 60 * 60_000;
const missingTimes = 3;
const unauthorized = 401;
const notFound = 404;

/**
 * Creates the function that fetches one run and receives the snapshot. It rejects like `AgentRuns.fetch` if the
 * failure is not specific to the run. A run that the API no longer knows is received as lost.
 */
export function createFetchRun(options: {
  readonly fetch: AgentRuns["fetch"];
  readonly receive: ReceiveRun;
  readonly clock: Clock;
  readonly log: Log;
  /** The shortest time between two fetches of one run. */
  readonly fetchIntervalMs: number;
}): (run: OpenRun) => Promise<Received> {
  const { fetch, receive, clock, log, fetchIntervalMs } = options;

  async function onRefused(run: OpenRun, error: unknown): Promise<Received> {
    if (!isApiFault(error) || error.certainty !== "refused") throw error;
    if (error.retryable || error.status === unauthorized) throw error;
    const now = clock.elapsed();
    const missing = { since: run.missing?.since ?? now, times: (run.missing?.times ?? 0) + 1 };
    run.fetchAt = now + backoffMs(missing.times, retryFirstMs, retryMostMs, clock.random());
    // Otherwise each sweep would search for it.
    run.shownAt = now;
    run.doubt = run.doubt && { ...run.doubt, isOpen: false, fetchAt: run.fetchAt };
    run.missing = missing;
    if (missing.times === 1) log.warn("A run can't be fetched", { run: run.runId, reason: error.reason });
    const isGone = now - missing.since >= missingForMs && missing.times >= missingTimes;
    if (error.status !== notFound || !isGone) return "unchanged";
    log.error("A run is given up: the API no longer knows it", { run: run.runId });
    const received = await receive(lostRun(run.record, run.runId, clock.now()), "fetch");
    // Receiving clears it, but if the thread could not be saved, the run is still missing.
    run.missing = missing;
    return received;
  }

  return async (run) => {
    let found: Run;
    try {
      found = await fetch(run.runId);
    } catch (error) {
      return onRefused(run, error);
    }
    const wasUndelivered = run.undelivered !== null;
    const received = await receive(found, "fetch");
    // It was fetched by id only because it could not be delivered.
    if (wasUndelivered && received === "delivered") run.unlisted = false;
    const now = clock.elapsed();
    const intervalMs = Math.max((now - run.changedAt) / fetchesPerAge, fetchIntervalMs);
    run.fetchAt = Math.max(now + Math.min(intervalMs, longestIntervalMs), run.undelivered?.notBefore ?? 0);
    return received;
  };
}
