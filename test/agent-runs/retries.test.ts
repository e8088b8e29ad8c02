import { expect, test } from "vitest";
import {
  ConflictError,
  RateLimitError,
  RequestAbortedError,
  ServerError,
} from "../../src/agent-runs/errors.ts";
import { inTurn, problem, rejection, reset, run, startLocalApi } from "./local-api.ts";

const created = { body: { run_id: "run-1", state: "QUEUED" } };

test.each([
  ["408", { status: 408 }],
  ["409", { status: 409 }],
  ["429", { status: 429 }],
  ["500", { status: 500 }],
  ["503 that is over at once", { status: 503, headers: { "retry-after": "0" } }],
  ["a broken connection", reset],
])("a read is tried again after %s", async (_, failure) => {
  await using api = await startLocalApi(inTurn(failure, failure, { body: run }));
  expect(await api.client().fetch("run-1")).toMatchObject({ run_id: "run-1" });
  expect(api.seen).toHaveLength(3);
});

test("a read gives up after two retries, with the last error", async () => {
  await using api = await startLocalApi(inTurn({ status: 500 }, { status: 500 }, { status: 502 }));
  const error = await rejection(api.client().fetch("run-1"));
  expect(error).toBeInstanceOf(ServerError);
  expect(error).toMatchObject({ status: 502, certainty: "refused" });
  expect(api.seen).toHaveLength(3);
});

test.each([
  ["a refusal", problem("not_authorized", 403)],
  ["a refusal that calls itself retryable", problem("not_authorized", 403, { retryable: true })],
  ["a failure that calls itself final", problem("internal_error", 500, { retryable: false })],
  ["an answer that can't be read", { body: "<html>" }],
])("a read is not tried again after %s", async (_, failure) => {
  await using api = await startLocalApi(() => failure);
  await rejection(api.client().fetch("run-1"));
  expect(api.seen).toHaveLength(1);
});

test("a cancel is tried again, but not on a conflict", async () => {
  await using api = await startLocalApi(inTurn(reset, { status: 500 }, { body: '"run-1"' }));
  expect(await api.client().cancel("run-1")).toBe("run-1");
  expect(api.seen).toHaveLength(3);
  await using busy = await startLocalApi(() => problem("conflict", 409));
  expect(await rejection(busy.client().cancel("run-1"))).toBeInstanceOf(ConflictError);
  expect(busy.seen).toHaveLength(1);
});

test.each([
  ["429", { status: 429, headers: { "retry-after": "0" } }],
  ["500", { status: 500 }],
  ["503 that says when", { status: 503, headers: { "retry-after": "0" } }],
  ["a broken connection", reset],
])("a create, a follow-up and a dispatch are sent once in spite of %s", async (_, failure) => {
  await using api = await startLocalApi(() => failure);
  const client = api.client({ retries: 5 });
  await rejection(client.create({ prompt: "x" }));
  await rejection(client.followUp("run-1", { message: "x" }));
  await rejection(client.dispatchToFactory("f-1", "x"));
  expect(api.seen.map(({ url }) => url.pathname.split("/").at(-1))).toEqual(["run", "followups", "runs"]);
});

test("a create that surely never arrived is tried again", async () => {
  await using api = await startLocalApi(() => created);
  const gone = await startLocalApi(() => created);
  await gone.close();
  const tried: string[] = [];
  const fetchOnceElsewhere: typeof fetch = (input, init) => {
    const asked = new Request(input, init);
    tried.push(asked.method);
    return tried.length === 1 ? fetch(asked.url.replace(api.baseUrl, gone.baseUrl), init) : fetch(asked);
  };
  const client = api.client({ fetch: fetchOnceElsewhere });
  expect(await client.create({ prompt: "x" })).toMatchObject({ run_id: "run-1" });
  expect(tried).toEqual(["POST", "POST"]);
  expect(api.seen).toHaveLength(1);
});

test("a wait that is longer than the client waits is left to the caller", async () => {
  await using api = await startLocalApi(() => ({ status: 429, headers: { "retry-after": "31" } }));
  const error = await rejection(api.client().fetch("run-1"));
  expect(error).toBeInstanceOf(RateLimitError);
  expect(error).toMatchObject({ retryAfterMs: 31_000, retryable: true, certainty: "refused" });
  expect(api.seen).toHaveLength(1);
});

test("the number of retries can be set for the client and for one call", async () => {
  await using api = await startLocalApi(() => ({ status: 500 }));
  const client = api.client({ retries: 1 });
  await rejection(client.fetch("run-1"));
  expect(api.seen).toHaveLength(2);
  await rejection(client.fetch("run-1", { retries: 0 }));
  expect(api.seen).toHaveLength(3);
});

test("a pause between two tries ends when the call is given up", async () => {
  const giveUp = new AbortController();
  await using api = await startLocalApi(() => {
    setTimeout(() => giveUp.abort(), 20);
    return { status: 500, headers: { "retry-after": "25" } };
  });
  const error = await rejection(api.client().fetch("run-1", { signal: giveUp.signal }));
  expect(error).toBeInstanceOf(RequestAbortedError);
  expect(api.seen).toHaveLength(1);
});
