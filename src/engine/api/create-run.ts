import { unknownAgeMs } from "#base/window.ts";
import type { CreateEffect } from "#core/effect.ts";
import { type Outcome, ofOtherRequest, stillSettling } from "#core/outcome.ts";
import type { DispatchId } from "#core/place.ts";
import { withReference } from "#core/prompt.ts";
import type { RunRecord, Thread } from "#core/thread.ts";
import { runToKeep } from "#core/twin.ts";
import type { Attempt } from "#ports.ts";
import { type Api, failed, lookupRejected, noRun, rejected } from "./api.ts";
import { type DispatchSearch, findDispatch, newProgress, type Progress } from "./find-dispatch.ts";

/** Creates the dispatch's run, directly or through its factory. An uncertain attempt first searches for it. */
export async function createRun(
  api: Api,
  effect: CreateEffect,
  thread: Thread,
  attempt: Attempt,
): Promise<Outcome> {
  const { dispatch } = effect;
  const record = thread.runs.find((run) => run.dispatch === dispatch);
  if (!record?.request) return failed(noRun);
  const { factory } = record;
  const request = { ...record.request, prompt: withReference(record.request.prompt, dispatch) };
  if (attempt.uncertain) {
    const searched = await searchFirst(api, effect, record, attempt);
    if (searched !== null) return searched;
  }
  if (factory !== undefined) return dispatchToFactory(api, effect, factory, request.prompt);
  const created = await api.agentRuns.create(request);
  return { ok: true, kind: "create", runId: created.run_id, state: created.state };
}

/**
 * Resolves with the outcome of a search for an earlier try's run; null: there is none. A search that is too long for
 * one try goes on in the next, once the settling time is over: before, it would miss what appears behind it.
 */
async function searchFirst(
  api: Api,
  effect: CreateEffect,
  record: RunRecord,
  { settlesInMs, ageMs }: Attempt,
): Promise<Outcome | null> {
  const { dispatch, tries } = effect;
  const search = searchFor(record, effect.since, api);
  // Our clock may have been set while no process ran: the absence from a shorter time proves nothing. The clock that
  // nobody can set does not count the time for which the machine slept.
  const leastMs = ageMs ?? (settlesInMs > 0 ? search.ageMs : unknownAgeMs);
  const begun = settlesInMs > 0 ? undefined : api.searches.get(dispatch);
  const progress = begun ?? newProgress();
  api.searches.delete(dispatch);
  try {
    const wanted = { ...search, ageMs: Math.max(search.ageMs, leastMs) };
    const { runs, isComplete } = await findDispatch(api.agentRuns, dispatch, wanted, progress);
    const kept = runToKeep(record, runs);
    const found = runs.find((run) => run.run_id === kept);
    if (found !== undefined) return { ok: true, kind: "create", runId: found.run_id, state: found.state };
    if (settlesInMs > 0) return failed(stillSettling(settlesInMs, tries));
    if (isComplete) return null;
    goOnLater(api, dispatch, progress);
    return failed(stillSettling(Number.POSITIVE_INFINITY, tries));
  } catch (error) {
    const rejection = lookupRejected(api, effect, error);
    if (rejection.fault.retryable && settlesInMs === 0) goOnLater(api, dispatch, progress);
    // The service may have forgotten the cursor: the search begins again.
    return begun === undefined ? rejection : failed({ ...rejection.fault, retryable: true });
  }
}

/** Searches that are remembered; those that are forgotten begin again. */
const mostSearches = 1_000;

function goOnLater({ searches }: Api, dispatch: DispatchId, progress: Progress): void {
  if (searches.size >= mostSearches) searches.clear();
  searches.set(dispatch, progress);
}

/** One try searches no longer than this, so that it can still create the run; see `withGuardedWrites`. */
const longestSearchMs = 60_000;

/** Returns where to search from now on for the record's run, which was asked for at `since`, RFC 3339, by our clock. */
export function searchFor({ request, factory }: RunRecord, since: string, { clock }: Api): DispatchSearch {
  // A factory chooses its runs' names itself, and a skill may do so.
  const isNamed = factory === undefined && request?.skill === undefined;
  const endsAt = clock.elapsed() + longestSearchMs;
  return {
    ageMs: clock.now() - Date.parse(since),
    name: isNamed ? request?.config.name : undefined,
    hasMetadata: factory === undefined,
    mayGoOn: () => clock.elapsed() < endsAt,
  };
}

async function dispatchToFactory(
  api: Api,
  effect: CreateEffect,
  factory: string,
  prompt: string,
): Promise<Outcome> {
  let uid: string | null;
  try {
    uid = await api.factories.findFactory(factory);
  } catch (error) {
    const fault = ofOtherRequest(rejected(api, effect, error).fault);
    // The search dispatches nothing.
    return failed({ ...fault, certainty: fault.certainty === "unknown" ? "not-sent" : fault.certainty });
  }
  if (uid === null) {
    const reason = `There is no factory called “${factory}”.`;
    return failed({ certainty: "refused", retryable: false, reason });
  }
  const dispatched = await api.factories.dispatchToFactory(uid, prompt);
  return { ok: true, kind: "create", runId: dispatched.run_id, state: dispatched.state };
}
