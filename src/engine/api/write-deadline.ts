import type { Timers } from "#engine/base/timers.ts";
import type { ApiFault } from "#ports.ts";
import type { Api } from "./api.ts";

/** Rejects a write after the deadline. */
class TooLate extends Error implements ApiFault {
  override readonly name = "TooLate";
  readonly certainty = "not-sent";
  readonly retryable = true;
  readonly reason = "The Agent Runs API responds too slowly.";
}

/**
 * Returns the API for one try of an effect; it rejects writes after `beginMs`. A write that began after the try
 * timed out might be missed by the search of the next try. Call `callOff` when the try has ended.
 */
export function withWriteDeadline(
  api: Api,
  timers: Timers,
  beginMs: number,
): { api: Api; callOff: () => void } {
  let late = false;
  const callOff = timers.after(beginMs, () => {
    late = true;
  });
  const begin = async <T>(write: () => Promise<T>): Promise<T> => {
    if (late) throw new TooLate();
    return write();
  };
  const { agentRuns, factories } = api;
  return {
    callOff,
    api: {
      ...api,
      agentRuns: {
        create: (request) => begin(() => agentRuns.create(request)),
        followUp: (runId, request) => begin(() => agentRuns.followUp(runId, request)),
        cancel: (runId) => begin(() => agentRuns.cancel(runId)),
        fetch: (runId) => agentRuns.fetch(runId),
        list: (query) => agentRuns.list(query),
      },
      factories: {
        findFactory: (name) => factories.findFactory(name),
        dispatchToFactory: (uid, prompt) => begin(() => factories.dispatchToFactory(uid, prompt)),
      },
    },
  };
}
