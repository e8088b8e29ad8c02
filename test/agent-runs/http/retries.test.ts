import { expect, test } from "vitest";
import type { AgentRunsClient } from "#agent-runs/client.ts";
import { ConflictError, RateLimitError, RequestAbortedError, ServerError } from "#agent-runs/errors.ts";
import { retryDelayMs } from "#agent-runs/http/retry.ts";
import { defaultTries } from "#agent-runs/http/try-options.ts";
import { inTurn, problem, rejection, reset, run, startLocalApi } from "#test/support/agent-runs/local-api.ts";

const created = { body: { run_id: "run-1", state: "QUEUED" } };

test.each([
  ["408", { status: 408 }],
  ["409", { status: 409 }],
  ["429", { status: 429 }],
  ["500", { status: 500 }],
  ["503 that is over at once", { status: 503, headers: { "retry-after": "0" } }],
  ["a broken connection", reset],
])("a read is retried after %s", async (_, failure) => {
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
])("a read is not retried after %s", async (_, failure) => {
  await using api = await startLocalApi(() => failure);
  await rejection(api.client().fetch("run-1"));
  expect(api.seen).toHaveLength(1);
});

test("a cancel is retried, but not on a conflict", async () => {
  await using api = await startLocalApi(inTurn(reset, { status: 500 }, { body: '"run-1"' }));
  expect(await api.client().cancel("run-1")).toBe("run-1");
  expect(api.seen).toHaveLength(3);
  await using busy = await startLocalApi(() => problem("conflict", 409));
  expect(await rejection(busy.client().cancel("run-1"))).toBeInstanceOf(ConflictError);
  expect(busy.seen).toHaveLength(1);
});

/** The outcome of each call that must be made only once. */
const onceCalls = {
  create: (client: AgentRunsClient) => client.create({ prompt: "x" }),
  followUp: (client: AgentRunsClient) => client.followUp("run-1", { message: "x" }),
  dispatch: (client: AgentRunsClient) => client.dispatchToFactory("f-1", "x"),
  other: (client: AgentRunsClient) => client.request({ method: "POST", path: "agent/schedules", body: {} }),
};

test.each([
  ["408", { status: 408 }],
  ["409", { status: 409 }],
  ["500", { status: 500 }],
  ["500 that asks to be tried again", { status: 500, headers: { "x-should-retry": "true" } }],
  ["503", { status: 503 }],
  ["503 that says when", { status: 503, headers: { "retry-after": "0" } }],
  ["504", { status: 504, headers: { "retry-after": "0" } }],
  ["429 that says no", { status: 429, headers: { "x-should-retry": "false" } }],
  ["a broken connection", reset],
])("a create, a follow-up, a dispatch and any other write are sent once despite %s", async (_, failure) => {
  await using api = await startLocalApi(() => failure);
  const client = api.client({ retries: 5 });
  for (const call of Object.values(onceCalls)) await rejection(call(client));
  expect(api.seen.map(({ url }) => url.pathname.split("/").at(-1))).toEqual([
    "run",
    "followups",
    "runs",
    "schedules",
  ]);
});

test.each([
  ["429", { status: 429 }],
  ["429 that says when", { status: 429, headers: { "retry-after": "0" } }],
])(
  "a create, a follow-up and a dispatch that were turned away with a %s are sent again",
  async (_, refusal) => {
    for (const call of Object.values(onceCalls)) {
      await using api = await startLocalApi(inTurn(refusal, refusal, created));
      await call(api.client());
      expect(api.seen).toHaveLength(3);
      expect(new Set(api.seen.map(({ body }) => body)).size).toBe(1);
    }
  },
);

test("a create whose retry would exceed its time limit is left to the caller", async () => {
  await using api = await startLocalApi(() => ({ status: 429, headers: { "retry-after": "25" } }));
  const error = await rejection(api.client({ timeoutMs: 20_000 }).create({ prompt: "x" }));
  expect(error).toBeInstanceOf(RateLimitError);
  expect(error).toMatchObject({ certainty: "refused", retryAfterMs: 25_000 });
  expect(api.seen).toHaveLength(1);
});

test.each([
  ["fetch", (client: AgentRunsClient) => client.fetch("run-1")],
  ["cancel", (client: AgentRunsClient) => client.cancel("run-1")],
])("x-should-retry overrides the status of a %s", async (_, call) => {
  const body = run;
  await using yes = await startLocalApi(
    inTurn({ status: 400, headers: { "x-should-retry": "true" } }, { body }),
  );
  await call(yes.client());
  expect(yes.seen).toHaveLength(2);
  await using no = await startLocalApi(() => ({ status: 500, headers: { "x-should-retry": "false" } }));
  await rejection(call(no.client()));
  expect(no.seen).toHaveLength(1);
});

test.each([
  ["milliseconds", () => ({ "retry-after-ms": "40", "retry-after": "20" })],
  ["seconds", () => ({ "retry-after": "0.04" })],
  ["an HTTP date", () => ({ "retry-after": new Date(Date.now() + 1_000).toUTCString() })],
])("a read waits as long as the service asks in %s", async (_, headers) => {
  const at: number[] = [];
  await using api = await startLocalApi(() => {
    at.push(Date.now());
    return at.length === 1 ? { status: 503, headers: headers() } : { body: run };
  });
  // The test would time out if it waited for the backoff, an hour.
  await api.client({ backoffMs: 3_600_000, maxBackoffMs: 3_600_000 }).fetch("run-1");
  expect(at).toHaveLength(2);
});

test("a create that certainly never arrived is retried", async () => {
  await using api = await startLocalApi(() => created);
  const gone = await startLocalApi(() => created);
  await gone.close();
  const tried: string[] = [];
  const fetchOnceElsewhere: typeof fetch = (input, init) => {
    const asked = new Request(input, init);
    tried.push(asked.method);
    return fetch(
      tried.length === 1 ? new Request(asked.url.replace(api.baseUrl, gone.baseUrl), asked) : asked,
    );
  };
  const client = api.client({ fetch: fetchOnceElsewhere });
  expect(await client.create({ prompt: "x" })).toMatchObject({ run_id: "run-1" });
  expect(tried).toEqual(["POST", "POST"]);
  expect(api.seen.map(({ body }) => body)).toEqual(['{"prompt":"x"}']);
});

test("a wait beyond the client's limit is left to the caller", async () => {
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

test("every time limit can be set for one call", async () => {
  await using api = await startLocalApi(inTurn({ status: 500 }, { status: 500 }, { body: run }));
  const slow = api.client({ backoffMs: 3_600_000, maxBackoffMs: 3_600_000 });
  await slow.fetch("run-1", { backoffMs: 1, maxBackoffMs: 1 });
  expect(api.seen).toHaveLength(3);
  await using limited = await startLocalApi(() => ({ status: 429, headers: { "retry-after": "5" } }));
  await rejection(limited.client().fetch("run-1", { maxRetryAfterMs: 4_999 }));
  expect(limited.seen).toHaveLength(1);
});

test.each([
  { retries: -1 },
  { retries: Number.NaN },
  { retries: Number.POSITIVE_INFINITY },
  { timeoutMs: 0 },
  { timeoutMs: Number.POSITIVE_INFINITY },
  { backoffMs: -1 },
  { maxBackoffMs: Number.NaN },
  { maxRetryAfterMs: 2 ** 31 },
])("the client and a call reject the invalid option %j", async (options) => {
  await using api = await startLocalApi(() => ({ body: run }));
  expect(() => api.client(options)).toThrow(TypeError);
  const error = await rejection(api.client().fetch("run-1", options));
  expect(error).toMatchObject({ name: "InvalidRequestError", fields: Object.keys(options) });
  expect(api.seen).toEqual([]);
});

test("a pause between two tries ends when the call is aborted", async () => {
  const giveUp = new AbortController();
  await using api = await startLocalApi(() => {
    setTimeout(() => giveUp.abort(), 20);
    return { status: 500, headers: { "retry-after": "25" } };
  });
  const error = await rejection(api.client().fetch("run-1", { signal: giveUp.signal }));
  expect(error).toBeInstanceOf(RequestAbortedError);
  expect(api.seen).toHaveLength(1);
});

/** The pause after that many failed tries, with the defaults. */
function pauseAfter(tries: number, random: number, retryAfterMs?: number): number | null {
  const error = new RateLimitError({
    certainty: "refused",
    retryable: true,
    reason: "Busy.",
    status: 429,
    retryAfterMs,
  });
  const options = { ...defaultTries, retries: 10, random: () => random };
  return retryDelayMs({ error, advice: undefined }, "once", tries, options);
}

test("each pause is twice as long as the one before, up to a limit", () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7].map((tries) => pauseAfter(tries, 0));
  expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
});

test("jitter takes up to half of a pause, so that many clients don't return at once", () => {
  expect(pauseAfter(2, 0.5)).toBe(750);
  expect(pauseAfter(2, 1)).toBe(500);
});

test("a service that asks for no wait, or for one that is over, gets the ordinary pause", () => {
  expect(pauseAfter(1, 0, 0)).toBe(defaultTries.backoffMs);
  expect(pauseAfter(1, 0, 20)).toBe(20);
  expect(pauseAfter(1, 0, defaultTries.maxRetryAfterMs + 1)).toBeNull();
});
