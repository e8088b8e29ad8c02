import { expect, test } from "vitest";
import { z } from "zod";
import {
  apiKey,
  inTurn,
  problem,
  rejection,
  reset,
  run,
  startLocalApi,
} from "#test/support/agent-runs/local-api.ts";

test("a call gives the status, the headers and the body beside the parsed data", async () => {
  const headers = { "x-request-id": "req-7" };
  await using api = await startLocalApi(() => ({ status: 202, headers, body: run }));
  const reply = await api.client().fetch("run-1").withResponse();
  expect(reply.data).toEqual(run);
  expect(reply.status).toBe(202);
  expect(reply.headers.get("x-request-id")).toBe("req-7");
  expect(JSON.parse(reply.body)).toEqual(run);
  expect(api.seen).toHaveLength(1);
});

test("every call gives its raw response", async () => {
  const page_info = { has_next_page: false };
  const body = {
    ...run,
    uid: "f-1",
    name: "one",
    conversation_id: "c-1",
    runs: [],
    factories: [],
    models: [],
    agents: [],
    environments: [],
    steps: [],
    artifact_uid: "a-1",
    artifact_type: "PLAN",
    page_info,
  };
  const headers = { date: "Sun, 06 Nov 1994 08:49:37 GMT" };
  await using api = await startLocalApi(() => ({ status: 203, headers, body }));
  const client = api.client();
  const calls = [
    client.create({ prompt: "x" }),
    client.list(),
    client.fetch("a"),
    client.followUp("a", { message: "x" }),
    client.cancel("a"),
    client.conversation("a"),
    client.conversationById("a"),
    client.transcript("a"),
    client.artifact("a"),
    client.sessionRedirect("a"),
    client.environments(),
    client.models(),
    client.skills(),
    client.factories(),
    client.factory("a"),
    client.dispatchToFactory("a", "x"),
    client.request({ method: "GET", path: "agent/schedules" }),
  ];
  for (const call of calls) {
    const reply = await call.withResponse();
    expect(reply.status).toBe(203);
    expect(reply.headers.get("content-type")).toBe("application/json");
    expect(reply.data).toEqual(await call);
  }
  expect(api.seen).toHaveLength(calls.length);
});

test("a failed call with withResponse rejects once", async () => {
  const unheard: unknown[] = [];
  const note = (error: unknown) => unheard.push(error);
  process.on("unhandledRejection", note);
  try {
    await using api = await startLocalApi(() => problem("resource_not_found", 404));
    expect(await rejection(api.client().fetch("run-1").withResponse())).toMatchObject({ status: 404 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(unheard).toEqual([]);
  } finally {
    process.off("unhandledRejection", note);
  }
});

test("an endpoint without a method is called with the same key, query, body and retries", async () => {
  const schedule = { id: "s-1", cron_schedule: "0 9 * * *", more: [1] };
  await using api = await startLocalApi(inTurn({ status: 500 }, reset, { body: schedule }));
  const query = { team: true, page: 2, state: ["A", "B"], metadata: { key: "value" }, none: undefined };
  expect(await api.client().request({ method: "GET", path: "/agent/schedules/s-1", query })).toEqual(
    schedule,
  );
  expect(api.seen).toHaveLength(3);
  expect(api.seen[2]?.headers.authorization).toBe(`Bearer ${apiKey}`);
  expect(api.seen[2]?.url.pathname).toBe("/api/v1/agent/schedules/s-1");
  expect(decodeURIComponent(api.seen[2]?.url.search ?? "")).toBe(
    "?team=true&page=2&state=A&state=B&metadata[key]=value",
  );
});

test("another write carries its body, and is retried only if the caller allows it", async () => {
  await using api = await startLocalApi(() => reset);
  const put = { method: "PUT", path: "agent/schedules/s-1", body: { enabled: false } } as const;
  expect(await rejection(api.client().request(put))).toMatchObject({ name: "AmbiguousOutcomeError" });
  expect(api.seen.map(({ method, body }) => [method, body])).toEqual([["PUT", '{"enabled":false}']]);
  const error = await rejection(api.client().request({ ...put, repeatable: true }));
  expect(error).toMatchObject({ name: "ConnectionError" });
  expect(api.seen).toHaveLength(4);
});

test("an answer of another endpoint is checked by the schema, if there is one", async () => {
  await using api = await startLocalApi(() => ({ body: { id: "s-1", enabled: "yes" } }));
  const request = { method: "GET", path: "agent/schedules/s-1" } as const;
  const right = await api.client().request({ ...request, schema: z.object({ id: z.string() }) });
  expect(right.id).toBe("s-1");
  const wrong = api.client().request({ ...request, schema: z.object({ enabled: z.boolean() }) });
  expect(await rejection(wrong)).toMatchObject({ name: "ResponseSchemaError", fields: ["enabled"] });
});

test.each([
  ["JSON", "application/problem+json; charset=utf-8", '{"a":1}', { a: 1 }],
  ["a text", "text/plain", "hello", "hello"],
  ["nothing", "application/json", "", undefined],
])("an answer of another endpoint that is %s is returned unchanged", async (_, type, body, expected) => {
  await using api = await startLocalApi(() => ({ headers: { "content-type": type }, body }));
  expect(await api.client().request({ method: "GET", path: "agent/other" })).toEqual(expected);
});

test("an answer with the type of JSON and other content is an error", async () => {
  await using api = await startLocalApi(() => ({ body: "{oops" }));
  expect(await rejection(api.client().request({ method: "GET", path: "x" }))).toMatchObject({
    name: "ResponseSchemaError",
    fields: ["the body"],
  });
});

test.each([
  "../../admin",
  "agent/../../../admin",
  "%2e%2e/%2e%2e/admin",
  "..\\..\\admin",
  "agent/runs?limit=1",
  "agent#there",
])("a path such as %j is refused, and the key is not sent", async (path) => {
  await using api = await startLocalApi(() => ({ body: {} }));
  const error = await rejection(api.client().request({ method: "GET", path }));
  expect(error).toMatchObject({ name: "InvalidRequestError", certainty: "not-sent", fields: ["path"] });
  expect(api.seen).toEqual([]);
});

test("a path that looks like another host's stays with the service", async () => {
  await using api = await startLocalApi(() => ({ body: {} }));
  await api.client().request({ method: "GET", path: "//evil.example.com/x" });
  await api.client().request({ method: "GET", path: "https://evil.example.com/x" });
  expect(api.seen.map(({ url }) => url.pathname)).toEqual([
    "/api/v1/evil.example.com/x",
    "/api/v1/https://evil.example.com/x",
  ]);
});

test("a body that can't be written as JSON is not sent", async () => {
  await using api = await startLocalApi(() => ({ body: {} }));
  const body: Record<string, unknown> = {};
  body.itself = body;
  const error = await rejection(api.client().request({ method: "POST", path: "x", body }));
  expect(error).toMatchObject({ name: "InvalidRequestError", certainty: "not-sent" });
  expect(api.seen).toEqual([]);
});
