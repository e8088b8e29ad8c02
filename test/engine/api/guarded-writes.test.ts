import { expect, test } from "vitest";
import { withGuardedWrites } from "#engine/api/guarded-writes.ts";
import { createTimers } from "#engine/base/timers.ts";
import type { AgentRuns } from "#ports.ts";
import { createHandClock } from "#test/support/engine/hand-clock.ts";
import { StandInApi } from "#test/support/engine/stand-in-api.ts";
import { silentLog } from "#test/support/logs.ts";

test("a write after the deadline is rejected as not sent", async () => {
  const clock = createHandClock();
  const standIn = new StandInApi(clock);
  let creates = 0;
  const agentRuns: AgentRuns = {
    create: async () => ({ run_id: `run-${++creates}`, state: "QUEUED" }),
    list: (query) => standIn.list(query),
    fetch: (runId) => standIn.fetch(runId),
    followUp: (runId, request) => standIn.followUp(runId, request),
    cancel: (runId) => standIn.cancel(runId),
  };
  const all = { agentRuns, transcripts: standIn, factories: standIn, clock, log: silentLog, runName: "bot" };
  const whole = { ...all, deliver: async () => true, searches: new Map() };
  const { api } = withGuardedWrites(whole, createTimers(clock), { beginMs: 1_000, limitedForMs: () => 0 });
  const request = { prompt: "p", title: "t", config: { name: "bot" }, metadata: {} };
  await clock.advance(999);
  expect(await api.agentRuns.create(request)).toMatchObject({ run_id: "run-1" });
  await clock.advance(1);
  await expect(api.agentRuns.create(request)).rejects.toMatchObject({
    certainty: "not-sent",
    retryable: true,
  });
  expect(creates).toBe(1);
  expect((await api.agentRuns.list({})).runs).toEqual([]);
});
