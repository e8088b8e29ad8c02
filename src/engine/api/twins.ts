/** Looks for what an uncertain effect may have done twice in the Agent Runs API. */
import type { TwinMessagesEffect, TwinRunsEffect } from "#core/effect.ts";
import type { Outcome } from "#core/outcome.ts";
import type { RunId } from "#core/place.ts";
import { isEnded } from "#core/run.ts";
import type { Thread } from "#core/thread.ts";
import { runToKeep } from "#core/twin.ts";
import { type Api, failed, noRun, runIdOf } from "./api.ts";
import { searchFor } from "./create-run.ts";
import { findDispatch } from "./find-dispatch.ts";
import { timesIn } from "./send-follow-up.ts";

/**
 * Cancels the runs of the dispatch except the one that stays. If that is not yet the record's, it cancels nothing
 * and returns it: the record must change first, lest the other's end is told. Rejects like `AgentRuns`.
 */
export async function endTwinRuns(api: Api, effect: TwinRunsEffect, thread: Thread): Promise<Outcome> {
  const record = thread.runs.find((run) => run.dispatch === effect.dispatch);
  if (record === undefined) return failed(noRun);
  const runs = await findDispatch(api.agentRuns, effect.dispatch, searchFor(record, record.since, api));
  if (runs === "unsure") return { ok: true, kind: "twin-runs", kept: null, ended: [] };
  const kept = runToKeep(record, runs);
  if (kept !== null && kept.run_id !== record.runId) return { ok: true, kind: "twin-runs", kept, ended: [] };
  const ended: RunId[] = [];
  for (const { run_id, state } of runs) {
    if (run_id === kept?.run_id || isEnded(state)) continue;
    await api.agentRuns.cancel(run_id);
    ended.push(run_id);
    api.log.warn("A second run of a dispatch is cancelled", { dispatch: effect.dispatch, run: run_id });
  }
  return { ok: true, kind: "twin-runs", kept: null, ended };
}

/** Counts how often the run's conversation shows the follow-up. Rejects like `Transcripts`. */
export async function countMessages(api: Api, effect: TwinMessagesEffect, thread: Thread): Promise<Outcome> {
  const runId = runIdOf(thread, effect.dispatch);
  if (runId === null) return failed(noRun);
  const times = timesIn((await api.transcripts.messages(runId)) ?? [], effect.of);
  if (times > 1) api.log.warn("A follow-up reached its run twice", { effect: effect.of, run: runId });
  return { ok: true, kind: "twin-messages", times };
}
