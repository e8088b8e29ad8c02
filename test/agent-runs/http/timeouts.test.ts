import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { AmbiguousOutcomeError, RequestAbortedError, RequestTimeoutError } from "#agent-runs/errors.ts";
import { inTurn, rejection, run, startLocalApi } from "#test/support/agent-runs/local-api.ts";

const never = () => undefined;
const stall = (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.write('{"run_id": "run-1",');
};

test.each([
  ["never begins", never],
  ["begins and stalls", stall],
])("a create whose answer %s is unknown, and is sent once", async (_, answer) => {
  await using api = await startLocalApi(() => answer);
  const error = await rejection(api.client({ timeoutMs: 50 }).create({ prompt: "x" }));
  expect(error).toBeInstanceOf(AmbiguousOutcomeError);
  expect(error).toMatchObject({ certainty: "unknown", retryable: true });
  expect(error).toHaveProperty("cause", expect.any(RequestTimeoutError));
  expect(api.seen).toHaveLength(1);
});

test.each([
  ["never begins", never],
  ["begins and stalls", stall],
])("a read whose answer %s is tried again", async (_, answer) => {
  await using api = await startLocalApi(inTurn(answer, { body: run }));
  // Long enough for the second, proper answer on a busy machine.
  expect(await api.client({ timeoutMs: 2_000 }).fetch("run-1")).toMatchObject({ run_id: "run-1" });
  expect(api.seen).toHaveLength(2);
});

test("one call can have a time-out of its own", async () => {
  await using api = await startLocalApi(() => never);
  const call = api.client().fetch("run-1", { timeoutMs: 50, retries: 0 });
  expect(await rejection(call)).toBeInstanceOf(RequestTimeoutError);
});

test("a follow-up is accepted by its status, even if the body stalls", async () => {
  await using api = await startLocalApi(() => stall);
  await api.client({ timeoutMs: 5_000 }).followUp("run-1", { message: "x" });
  expect(api.seen).toHaveLength(1);
});

test("a call that is given up before it began sends nothing", async () => {
  await using api = await startLocalApi(() => ({ body: run }));
  const error = await rejection(api.client().create({ prompt: "x" }, { signal: AbortSignal.abort() }));
  expect(error).toBeInstanceOf(RequestAbortedError);
  expect(error).toMatchObject({ certainty: "not-sent" });
  expect(api.seen).toEqual([]);
});

test.each([
  ["before the answer", never],
  ["in the midst of the answer", stall],
])("a create that is given up %s may have been made", async (_, answer) => {
  const giveUp = new AbortController();
  await using api = await startLocalApi(() => (response) => {
    answer(response);
    setTimeout(() => giveUp.abort(new Error("shutting down")), 20);
  });
  const error = await rejection(api.client().create({ prompt: "x" }, { signal: giveUp.signal }));
  expect(error).toBeInstanceOf(AmbiguousOutcomeError);
  expect(error).toHaveProperty("cause", expect.any(RequestAbortedError));
  expect(error).toHaveProperty("cause.cause", new Error("shutting down"));
});

test.each([
  ["before the answer", never],
  ["in the midst of the answer", stall],
])("a read that is given up %s is told so, and is not tried again", async (_, answer) => {
  const giveUp = new AbortController();
  await using api = await startLocalApi(() => (response) => {
    answer(response);
    setTimeout(() => giveUp.abort(new Error("enough")), 20);
  });
  const error = await rejection(api.client().fetch("run-1", { signal: giveUp.signal }));
  expect(error).toBeInstanceOf(RequestAbortedError);
  expect(error).toHaveProperty("cause", new Error("enough"));
  expect(api.seen).toHaveLength(1);
});

test("every list and search ends when it is given up between two pages", async () => {
  const page_info = { has_next_page: true, next_cursor: "2" };
  for (const all of ["listAll", "allFactories"] as const) {
    const giveUp = new AbortController();
    const item = { ...run, uid: "f-1", name: "one" };
    const body = { runs: [item], factories: [item], page_info };
    await using api = await startLocalApi(() => ({ body }));
    const pages = api.client()[all]({}, { signal: giveUp.signal });
    await pages.next();
    giveUp.abort();
    expect(await rejection(pages.next())).toBeInstanceOf(RequestAbortedError);
    expect(api.seen).toHaveLength(1);
  }
});
