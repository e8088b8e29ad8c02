import { backoffMs } from "#base/backoff.ts";
import type { Log } from "#base/log.ts";
import type { Run } from "#core/run.ts";
import { isApiFault } from "#engine/api/api-fault.ts";
import type { AgentRuns, Clock } from "#ports.ts";
import { type OpenRun, vanished } from "./open-runs.ts";
import type { Shown, ShowRun } from "./show-run.ts";

/** A run is fetched the more seldom the longer it has not changed: about six times in that time. */
const paceDivisor = 6;
const slowestMs = 60_000;
const retryFirstMs = 30_000;
const retryMostMs = 10 * 60_000;
/** So long, and so often, the API must have said that there is no such run until that is believed. */
const missingForMs = 60 * 60_000;
const missingTimes = 3;
const unauthorized = 401;
const notFound = 404;

/** Fetches one run by itself and shows it. Rejects like `AgentRuns.fetch` where the run is not the reason. */
export function createFetchRun(options: {
  readonly fetch: AgentRuns["fetch"];
  readonly show: ShowRun;
  readonly clock: Clock;
  readonly log: Log;
  readonly fetchIntervalMs: number;
}): (run: OpenRun) => Promise<Shown> {
  const { fetch, show, clock, log, fetchIntervalMs } = options;

  async function putOff(run: OpenRun, error: unknown): Promise<Shown> {
    if (!isApiFault(error) || error.certainty !== "refused") throw error;
    if (error.retryable || error.status === unauthorized) throw error;
    const now = clock.now();
    const missing = { since: run.missing?.since ?? now, times: (run.missing?.times ?? 0) + 1 };
    run.fetchAt = now + backoffMs(missing.times, retryFirstMs, retryMostMs, clock.random());
    // So that sweeps don't look for it in every tick.
    run.shownAt = now;
    run.missing = missing;
    if (missing.times === 1) log.warn("A run can't be fetched", { run: run.runId, reason: error.reason });
    const isGone = now - missing.since >= missingForMs && missing.times >= missingTimes;
    if (error.status !== notFound || !isGone) return "same";
    log.error("A run is given up: the API no longer knows it", { run: run.runId });
    const shown = await show(vanished(run, now), "single");
    // Should it still be open, it is looked for as before.
    run.missing = missing;
    return shown;
  }

  return async (run) => {
    let found: Run;
    try {
      found = await fetch(run.runId);
    } catch (error) {
      return putOff(run, error);
    }
    const wasUnsaved = run.handing !== null;
    const shown = await show(found, "single");
    // Lists left it out only for that.
    if (wasUnsaved && shown === "changed") run.unlisted = false;
    const now = clock.now();
    run.fetchAt = now + Math.min(Math.max((now - run.changedAt) / paceDivisor, fetchIntervalMs), slowestMs);
    if (run.handing !== null) run.fetchAt = Math.max(run.fetchAt, run.handing.notBefore);
    return shown;
  };
}
