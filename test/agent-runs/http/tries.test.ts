import { expect, test } from "vitest";
import type { Tried } from "#agent-runs/http/tried.ts";
import { apiKey, inTurn, rejection, reset, run, startLocalApi } from "#test/support/agent-runs/local-api.ts";

test("each try is reported with its path, its status or the reason, and its duration", async () => {
  await using api = await startLocalApi(inTurn({ status: 503 }, reset, { body: run }));
  const tries: Tried[] = [];
  const durationMs = expect.any(Number);
  await api.client({ onTry: (tried) => tries.push(tried) }).fetch("run 1");
  const asked = { method: "GET", path: "/api/v1/agent/runs/run%201", durationMs };
  expect(tries).toEqual([
    { ...asked, number: 1, status: 503 },
    { ...asked, number: 2, error: expect.stringMatching(/^The connection .* broke off/) },
    { ...asked, number: 3, status: 200 },
  ]);
  for (const tried of tries) expect(tried.durationMs).toBeGreaterThanOrEqual(0);
});

test("a refusal, a late answer and an aborted call are reported", async () => {
  await using api = await startLocalApi(({ url }) =>
    url.pathname.endsWith("late") ? () => undefined : { status: 403 },
  );
  const tries: Tried[] = [];
  const client = api.client({ retries: 0, timeoutMs: 50, onTry: (tried) => tries.push(tried) });
  const abort = new AbortController();
  await rejection(client.create({ prompt: "x" }));
  await rejection(client.fetch("late"));
  const aborted = rejection(client.fetch("late", { signal: abort.signal, timeoutMs: 5_000 }));
  setTimeout(() => abort.abort(), 20);
  await aborted;
  expect(tries.map(({ method, status, error }) => [method, status ?? error])).toEqual([
    ["POST", 403],
    ["GET", "The Agent Runs API did not answer within 0.05 s."],
    ["GET", "The call to the Agent Runs API was aborted."],
  ]);
});

test("a report holds no key, no body, no query and no header", async () => {
  const secrets = ["hidden-prompt", "hidden-detail", "hidden-search", "hidden-header", apiKey];
  await using api = await startLocalApi(() => ({ status: 403, body: { detail: "hidden-detail" } }));
  const tries: Tried[] = [];
  const client = api.client({ retries: 0, onTry: (tried) => tries.push(tried) });
  const headers = { "x-more": "hidden-header" };
  await rejection(client.create({ prompt: "hidden-prompt" }, { headers }));
  await rejection(client.list({ q: "hidden-search" }));
  await rejection(client.request({ method: "GET", path: `keys/${apiKey}` }));
  expect(tries).toHaveLength(3);
  for (const secret of secrets) expect(JSON.stringify(tries)).not.toContain(secret);
});

test("a hook that throws does not spoil the call", async () => {
  await using api = await startLocalApi(() => ({ body: run }));
  const onTry = () => {
    throw new Error("the log is full");
  };
  expect(await api.client({ onTry }).create({ prompt: "x" })).toMatchObject({ run_id: "run-1" });
});

test("a call's headers are sent with each of its tries, and with no other call", async () => {
  await using api = await startLocalApi(inTurn({ status: 500 }, { body: run }));
  const client = api.client();
  const headers = { "X-Trace": "t-1", Accept: "application/vnd.runs+json", Authorization: null };
  await client.fetch("run-1", { headers });
  await client.fetch("run-1");
  const [first, second, third] = api.seen.map((asked) => asked.headers);
  for (const sent of [first, second]) {
    expect(sent).toMatchObject({ "x-trace": "t-1", accept: "application/vnd.runs+json" });
    expect(sent).not.toHaveProperty("authorization");
  }
  expect(third).toMatchObject({ accept: "application/json", authorization: `Bearer ${apiKey}` });
  expect(third).not.toHaveProperty("x-trace");
});

test.each([{ "not a name": "x" }, { "x-secret": "wk-second\nline" }])(
  "the headers %j are refused without their values, and nothing is sent",
  async (headers) => {
    await using api = await startLocalApi(() => ({ body: run }));
    const error = await rejection(api.client().fetch("run-1", { headers }));
    expect(error).toMatchObject({ name: "InvalidRequestError", certainty: "not-sent", fields: ["headers"] });
    expect(String(error)).not.toContain("wk-second");
    expect(api.seen).toEqual([]);
  },
);
