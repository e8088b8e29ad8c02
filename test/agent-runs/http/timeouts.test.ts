import type { ServerResponse } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import { AmbiguousOutcomeError, RequestAbortedError, RequestTimeoutError } from "#agent-runs/errors.ts";
import { inTurn, rejection, run, startLocalApi } from "#test/support/agent-runs/local-api.ts";

const never = () => undefined;
const stall = (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.write('{"run_id": "run-1",');
};

/** Lets the client's timers run out once a request has arrived, and its answer has begun if there is one. */
function timeOutOnArrival() {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const expire = () => setImmediate(() => vi.runAllTimers());
  return {
    arrived: (response: ServerResponse) => {
      if (!response.headersSent) expire();
    },
    fetch: async (...asked: Parameters<typeof fetch>) => {
      const response = await fetch(...asked);
      expire();
      return response;
    },
  };
}

test.each([
  ["never begins", never],
  ["begins and stalls", stall],
])("a create whose answer %s has an unknown outcome and is sent once", async (_, answer) => {
  const time = timeOutOnArrival();
  await using api = await startLocalApi(() => (response) => {
    answer(response);
    time.arrived(response);
  });
  const error = await rejection(api.client({ fetch: time.fetch }).create({ prompt: "x" }));
  expect(error).toBeInstanceOf(AmbiguousOutcomeError);
  expect(error).toMatchObject({ certainty: "unknown", retryable: true });
  expect(error).toHaveProperty("cause", expect.any(RequestTimeoutError));
  expect(api.seen).toHaveLength(1);
});

test.each([
  ["never begins", never],
  ["begins and stalls", stall],
])("a read whose answer %s is retried", async (_, answer) => {
  await using api = await startLocalApi(inTurn(answer, { body: run }));
  // Long enough for the second answer to arrive on a busy machine.
  expect(await api.client({ timeoutMs: 2_000 }).fetch("run-1")).toMatchObject({ run_id: "run-1" });
  expect(api.seen).toHaveLength(2);
});

test("one call can have its own timeout", async () => {
  await using api = await startLocalApi(() => never);
  const call = api.client().fetch("run-1", { timeoutMs: 50, retries: 0 });
  expect(await rejection(call)).toBeInstanceOf(RequestTimeoutError);
});

test("a follow-up succeeds by its status, even if the body stalls", async () => {
  await using api = await startLocalApi(() => stall);
  await api.client({ timeoutMs: 5_000 }).followUp("run-1", { message: "x" });
  expect(api.seen).toHaveLength(1);
});

test("a call that is aborted before it begins sends nothing", async () => {
  await using api = await startLocalApi(() => ({ body: run }));
  const error = await rejection(api.client().create({ prompt: "x" }, { signal: AbortSignal.abort() }));
  expect(error).toBeInstanceOf(RequestAbortedError);
  expect(error).toMatchObject({ certainty: "not-sent" });
  expect(api.seen).toEqual([]);
});

test.each([
  ["before the answer", never],
  ["during the answer", stall],
])("a create that is aborted %s has an unknown outcome", async (_, answer) => {
  const abort = new AbortController();
  await using api = await startLocalApi(() => (response) => {
    answer(response);
    setTimeout(() => abort.abort(new Error("shutting down")), 20);
  });
  const error = await rejection(api.client().create({ prompt: "x" }, { signal: abort.signal }));
  expect(error).toBeInstanceOf(AmbiguousOutcomeError);
  expect(error).toHaveProperty("cause", expect.any(RequestAbortedError));
  expect(error).toHaveProperty("cause.cause", new Error("shutting down"));
});

test.each([
  ["before the answer", never],
  ["during the answer", stall],
])("a read that is aborted %s rejects and is not retried", async (_, answer) => {
  const abort = new AbortController();
  await using api = await startLocalApi(() => (response) => {
    answer(response);
    setTimeout(() => abort.abort(new Error("enough")), 20);
  });
  const error = await rejection(api.client().fetch("run-1", { signal: abort.signal }));
  expect(error).toBeInstanceOf(RequestAbortedError);
  expect(error).toHaveProperty("cause", new Error("enough"));
  expect(api.seen).toHaveLength(1);
});

test("every paged call ends when it is aborted between two pages", async () => {
  const page_info = { has_next_page: true, next_cursor: "2" };
  for (const all of ["listAll", "allFactories"] as const) {
    const abort = new AbortController();
    const item = { ...run, uid: "f-1", name: "one" };
    const body = { runs: [item], factories: [item], page_info };
    await using api = await startLocalApi(() => ({ body }));
    const pages = api.client()[all]({}, { signal: abort.signal });
    await pages.next();
    abort.abort();
    expect(await rejection(pages.next())).toBeInstanceOf(RequestAbortedError);
    expect(api.seen).toHaveLength(1);
  }
});
