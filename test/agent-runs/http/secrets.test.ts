import { inspect } from "node:util";
import { expect, test } from "vitest";
import { AgentRunsError } from "#agent-runs/errors.ts";
import { apiKey, problem, rejection, reset, startLocalApi } from "#test/support/agent-runs/local-api.ts";

/** Everything that a logger could print of an error, its causes and hidden fields included. */
const printed = (error: unknown) =>
  inspect(error, { depth: 20, showHidden: true, maxStringLength: null, maxArrayLength: null });

test("a key that the service repeats appears in no field of the error", async () => {
  const reply = problem("authentication_required", 401, {
    detail: `The key ${apiKey} is unknown.`,
    trace_id: `trace ${apiKey}`,
    auth_url: `https://app.example.com/?key=${apiKey}`,
    error: apiKey,
  });
  await using api = await startLocalApi(() => reply);
  const error = await rejection(api.client().fetch("run-1"));
  expect(error).toMatchObject({ status: 401, reason: "The key [API key] is unknown." });
  expect(printed(error)).not.toContain(apiKey);
});

test("errors without an answer contain no request, and so no key", async () => {
  await using api = await startLocalApi(({ url }) =>
    url.pathname.endsWith("cancel") ? reset : () => undefined,
  );
  const broken = await rejection(api.client().cancel("run-1"));
  const late = await rejection(api.client({ timeoutMs: 20, retries: 0 }).fetch("run-1"));
  await api.close();
  const refused = await rejection(api.client().create({ prompt: "x" }));
  for (const error of [broken, late, refused]) {
    expect(error).toBeInstanceOf(AgentRunsError);
    expect(printed(error)).not.toContain(apiKey);
  }
});

test("an answer that breaks the schema and repeats the key is not quoted", async () => {
  await using api = await startLocalApi(() => ({ body: { run_id: 5, state: apiKey, [apiKey]: apiKey } }));
  const error = await rejection(api.client().create({ prompt: "x" }));
  expect(error).toBeInstanceOf(AgentRunsError);
  expect(printed(error)).not.toContain(apiKey);
});
