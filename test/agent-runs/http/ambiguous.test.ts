import { expect, test } from "vitest";
import type { AgentRunsClient } from "#agent-runs/client.ts";
import { AgentRunsError, AmbiguousOutcomeError, ConnectionError, ServerError } from "#agent-runs/errors.ts";
import { problem, rejection, reset, startLocalApi } from "#test/support/agent-runs/local-api.ts";

const writes: readonly [string, (client: AgentRunsClient) => Promise<unknown>][] = [
  ["create", (client) => client.create({ prompt: "x" })],
  ["follow-up", (client) => client.followUp("run-1", { message: "x" })],
  ["dispatch", (client) => client.dispatchToFactory("f-1", "x")],
  ["write of another kind", (client) => client.request({ method: "POST", path: "agent/schedules" })],
];

test.each(writes)("a %s whose connection broke is ambiguous, and its message says so", async (_, call) => {
  await using api = await startLocalApi(() => reset);
  const error = await rejection(call(api.client()));
  expect(error).toBeInstanceOf(AmbiguousOutcomeError);
  expect(error).toMatchObject({ name: "AmbiguousOutcomeError", certainty: "unknown", retryable: true });
  expect(error).toHaveProperty("message", expect.stringMatching(/unknown; look before you repeat it\.$/));
  expect(error).toHaveProperty("cause", expect.any(ConnectionError));
  expect(api.seen).toHaveLength(1);
});

test.each(writes)("a %s that failed at the server is ambiguous, with the server's facts", async (_, call) => {
  await using api = await startLocalApi(() => problem("internal_error", 500, { retryable: false }));
  const error = await rejection(call(api.client()));
  expect(error).toBeInstanceOf(AmbiguousOutcomeError);
  expect(error).toMatchObject({
    certainty: "unknown",
    retryable: false,
    status: 500,
    code: "internal_error",
    reason: "A detail.",
    traceId: "trace-7",
  });
  expect(error).toHaveProperty("cause", expect.any(ServerError));
});

test.each(writes)("a %s that was certainly not carried out is not ambiguous", async (_, call) => {
  await using refusing = await startLocalApi(() => problem("not_authorized", 403));
  await using limiting = await startLocalApi(() => ({ status: 429 }));
  const gone = await startLocalApi(() => ({}));
  await gone.close();
  for (const api of [refusing, limiting, gone]) {
    const error = await rejection(call(api.client({ retries: 1 })));
    expect(error).toBeInstanceOf(AgentRunsError);
    expect(error).not.toBeInstanceOf(AmbiguousOutcomeError);
  }
});

test("a read and a cancel, which may be repeated, are never ambiguous", async () => {
  await using api = await startLocalApi(() => reset);
  const client = api.client({ retries: 1 });
  for (const call of [client.fetch("run-1"), client.cancel("run-1")]) {
    expect(await rejection(call)).toMatchObject({ name: "ConnectionError" });
  }
  expect(api.seen).toHaveLength(4);
});
