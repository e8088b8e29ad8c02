import { expect, test } from "vitest";
import { createMetrics } from "#web/metrics.ts";

test("events are counted by kind and outcome, in seconds", async () => {
  const { registry, count } = createMetrics(() => ({ unsettled: 0, pendingEffects: 0, unfinishedRuns: 0 }));
  count({ kind: "accepted", event: "reply", answer: "saved", durationMs: 30 });
  count({ kind: "accepted", event: "reply", answer: "saved", durationMs: 70 });
  count({ kind: "performed", effect: "card", system: "slack", ok: false, durationMs: 1500 });
  count({ kind: "swept", ok: true, requests: 2, changed: 5, durationMs: 200 });
  const lines = (await registry.metrics()).split("\n");
  expect(lines).toContain('agent_runs_bot_accept_seconds_count{event="reply",answer="saved"} 2');
  expect(lines).toContain('agent_runs_bot_accept_seconds_sum{event="reply",answer="saved"} 0.1');
  expect(lines).toContain(
    'agent_runs_bot_perform_seconds_bucket{le="1",effect="card",system="slack",outcome="failed"} 0',
  );
  expect(lines).toContain(
    'agent_runs_bot_perform_seconds_bucket{le="2.5",effect="card",system="slack",outcome="failed"} 1',
  );
  expect(lines).toContain('agent_runs_bot_sweep_seconds_count{outcome="ok"} 1');
  expect(lines).toContain("agent_runs_bot_sweep_requests_total 2");
  expect(lines).toContain("agent_runs_bot_sweep_changed_total 5");
});

test("the load is read at every scrape", async () => {
  let pending = 3;
  const { registry } = createMetrics(() => ({ unsettled: 1, pendingEffects: pending, unfinishedRuns: 2 }));
  expect(await registry.metrics()).toMatch(/^agent_runs_bot_pending_effects 3$/m);
  pending = 0;
  const text = await registry.metrics();
  expect(text).toMatch(/^agent_runs_bot_pending_effects 0$/m);
  expect(text).toMatch(/^agent_runs_bot_unsettled_threads 1$/m);
  expect(text).toMatch(/^agent_runs_bot_unfinished_runs 2$/m);
});
