import type { Timers } from "#engine/base/timers.ts";
import type { ApiFault } from "#ports.ts";
import type { Api } from "./api.ts";

const tooManyRequests = 429;

/** Rejects a write that must not begin now; nothing was sent. */
class NotBegun extends Error implements ApiFault {
  override readonly name = "NotBegun";
  readonly certainty = "not-sent";
  readonly retryable = true;
  readonly reason: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  constructor(reason: string, limit?: { readonly retryAfterMs: number }) {
    super(reason);
    this.reason = reason;
    this.status = limit && tooManyRequests;
    this.retryAfterMs = limit?.retryAfterMs;
  }
}

/**
 * Returns the API for one try of an effect; it rejects writes after `beginMs`, and while `limitedForMs` returns more
 * than 0. A write that began after the try timed out might be missed by the search of the next try, and a limit may be
 * met while the try is still reading. Call `callOff` when the try has ended.
 */
export function withGuardedWrites(
  api: Api,
  timers: Timers,
  { beginMs, limitedForMs }: { readonly beginMs: number; readonly limitedForMs: () => number },
): { api: Api; callOff: () => void } {
  let late = false;
  const callOff = timers.after(beginMs, () => {
    late = true;
  });
  const begin = async <T>(write: () => Promise<T>): Promise<T> => {
    if (late) throw new NotBegun("The Agent Runs API responds too slowly.");
    const retryAfterMs = limitedForMs();
    if (retryAfterMs > 0) throw new NotBegun("The Agent Runs API limits requests.", { retryAfterMs });
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
