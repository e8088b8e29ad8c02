import type { CreateEffect } from "#core/effect.ts";
import type { Fault, Outcome } from "#core/outcome.ts";
import type { Attempt } from "#ports.ts";
import { type Api, failed, lookupRejected, rejected } from "./api.ts";
import { findDispatch } from "./find-dispatch.ts";

const tooManyRuns: Fault = {
  certainty: "unknown",
  retryable: true,
  reason: "There are too many runs to find out whether this one was already created.",
};

/** Creates the dispatch's run, by itself or through its factory, unless an earlier try is found to have. */
export async function createRun(api: Api, effect: CreateEffect, attempt: Attempt): Promise<Outcome> {
  if (attempt.uncertain) {
    try {
      const found = await findDispatch(api.agentRuns, effect);
      if (found === "unsure") return failed(tooManyRuns);
      if (found !== null) return { ok: true, kind: "create", runId: found.run_id, state: found.state };
    } catch (error) {
      return lookupRejected(api, effect, error);
    }
  }
  if (effect.factory !== undefined) return dispatchToFactory(api, effect, effect.factory);
  const created = await api.agentRuns.create(effect.request);
  return { ok: true, kind: "create", runId: created.run_id, state: created.state };
}

async function dispatchToFactory(api: Api, effect: CreateEffect, factory: string): Promise<Outcome> {
  let uid: string | null;
  try {
    uid = await api.factories.findFactory(factory);
  } catch (error) {
    const { fault } = rejected(api, effect, error);
    // Nothing was dispatched yet, however little is known of the search.
    return failed({ ...fault, certainty: fault.certainty === "unknown" ? "not-sent" : fault.certainty });
  }
  if (uid === null) {
    return failed({
      certainty: "refused",
      retryable: false,
      reason: `There is no factory called “${factory}”.`,
    });
  }
  const dispatched = await api.factories.dispatchToFactory(uid, effect.request.prompt);
  return { ok: true, kind: "create", runId: dispatched.run_id, state: dispatched.state };
}
