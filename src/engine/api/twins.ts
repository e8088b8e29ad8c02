/** Looks for what an uncertain effect may have done twice in the Agent Runs API. */
import type { TwinMessagesEffect, TwinRunsEffect } from "#core/effect.ts";
import type { Outcome } from "#core/outcome.ts";
import type { DispatchId, RunId } from "#core/place.ts";
import { dispatchKey, isEnded, type Run, referenceLine } from "#core/run.ts";
import type { Thread } from "#core/thread.ts";
import { runToKeep } from "#core/twin.ts";
import { type Api, failed, noRun, runIdOf } from "./api.ts";
import { faultOf } from "./api-fault.ts";
import { searchFor } from "./create-run.ts";
import { findDispatch } from "./find-dispatch.ts";
import { timesIn } from "./send-follow-up.ts";

/**
 * Cancels the runs of the dispatch except the one that stays. If that is not yet the record's, it cancels nothing
 * and returns it: the record must change first, lest the other's end is told. Rejects like `AgentRuns.list`.
 */
export async function endTwinRuns(api: Api, effect: TwinRunsEffect, thread: Thread): Promise<Outcome> {
  const record = thread.runs.find((run) => run.dispatch === effect.dispatch);
  if (record === undefined) return failed(noRun);
  const nothing: Outcome = { ok: true, kind: "twin-runs", kept: null, ended: [] };
  const { runs } = await findDispatch(api.agentRuns, effect.dispatch, searchFor(record, record.since, api));
  // Lists that don't show the record's own run lag, and would give its place to another.
  if (record.runId !== null && !runs.some(isRun(record.runId))) return nothing;
  const kept = runToKeep(record, runs);
  const keptRun = runs.find(isRun(kept)) ?? null;
  if (kept !== record.runId && keptRun !== null) return { ...nothing, kept: keptRun };
  const ended: RunId[] = [];
  for (const run of runs) {
    if (run.run_id === kept || !isSurelyOurs(run, keptRun, effect.dispatch)) continue;
    const about = { dispatch: effect.dispatch, run: run.run_id, state: run.state };
    if (!effect.found?.includes(run.run_id)) {
      api.log.warn("A dispatch has a second run", about);
      ended.push(run.run_id);
    }
    if (isEnded(run.state)) continue;
    try {
      await api.agentRuns.cancel(run.run_id);
      api.log.info("The second run of a dispatch is cancelled", about);
    } catch (error) {
      // It may just have ended, or not be cancellable yet: the next look sees.
      const { reason } = faultOf(error);
      api.log.info("The second run of a dispatch can't be cancelled now", { ...about, reason });
    }
  }
  return { ...nothing, ended };
}

const isRun = (runId: RunId | null) => (run: Run) => run.run_id === runId;

/** People and other agents may quote a prompt: the reference line alone counts only where the kept run has no more. */
function isSurelyOurs(run: Run, kept: Run | null, dispatch: DispatchId): boolean {
  if (run.metadata?.[dispatchKey] === dispatch) return true;
  const lastLine = run.prompt.trimEnd().split("\n").at(-1);
  const isAlike = kept === null || kept.metadata?.[dispatchKey] === undefined;
  return isAlike && lastLine === referenceLine(dispatch);
}

/** Counts how often the run's conversation shows the follow-up. Rejects like `Transcripts`. */
export async function countMessages(api: Api, effect: TwinMessagesEffect, thread: Thread): Promise<Outcome> {
  const runId = runIdOf(thread, effect.dispatch);
  if (runId === null) return failed(noRun);
  const times = timesIn((await api.transcripts.messages(runId)) ?? [], effect.of);
  if (times > 1) api.log.warn("A follow-up reached its run twice", { effect: effect.of, run: runId });
  return { ok: true, kind: "twin-messages", times };
}
