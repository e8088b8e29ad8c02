import { expect, test } from "vitest";
import * as errors from "#agent-runs/errors.ts";
import type { ApiFault } from "#ports.ts";
import { problem, rejection, run, startLocalApi } from "#test/support/agent-runs/local-api.ts";

/** The port's fields; assigning an error to it is checked by tsc. */
const faultOf = (error: unknown): ApiFault => {
  if (!(error instanceof errors.AgentRunsError)) throw new Error("not an AgentRunsError", { cause: error });
  return error;
};

test.each([
  ["invalid_request", 400, errors.BadRequestError, false],
  ["authentication_required", 401, errors.AuthenticationError, false],
  ["budget_exceeded", 403, errors.PermissionDeniedError, false],
  ["resource_not_found", 404, errors.NotFoundError, false],
  ["conflict", 409, errors.ConflictError, true],
  ["operation_not_supported", 422, errors.UnprocessableEntityError, false],
  ["resource_unavailable", 429, errors.RateLimitError, true],
  ["some_new_code", 418, errors.StatusError, false],
])("%s (%i) is a refusal with its own class", async (code, status, ErrorClass, retryable) => {
  await using api = await startLocalApi(() => problem(code, status));
  const error = await rejection(api.client({ retries: 0 }).create({ prompt: "x" }));
  expect(error).toBeInstanceOf(ErrorClass);
  expect(error).toMatchObject({ certainty: "refused", retryable, status, code, reason: "A detail." });
  expect(error).toMatchObject({ traceId: "trace-7", name: ErrorClass.name });
  expect(api.seen).toHaveLength(1);
});

test.each([
  ["internal_error", true],
  ["environment_setup_failed", false],
])("%s leaves a write unknown, and is retryable as the service defines", async (code, retryable) => {
  await using api = await startLocalApi(() => problem(code, 500));
  const error = await rejection(api.client({ retries: 0 }).cancel("run-1"));
  expect(error).toBeInstanceOf(errors.ServerError);
  expect(error).toMatchObject({ certainty: "unknown", retryable, status: 500, code });
});

test("the document and the header override the code's retryability", async () => {
  await using api = await startLocalApi(({ url }) =>
    url.pathname.endsWith("run")
      ? problem("internal_error", 500, { retryable: false })
      : { ...problem("internal_error", 500, { retryable: false }), headers: { "x-should-retry": "true" } },
  );
  const client = api.client({ retries: 0 });
  expect(await rejection(client.create({ prompt: "x" }))).toMatchObject({ retryable: false });
  expect(await rejection(client.fetch("run-1"))).toMatchObject({ retryable: true });
});

test("a 503 leaves a write unknown, even if it says when to come again", async () => {
  await using told = await startLocalApi(() => ({ status: 503, headers: { "retry-after": "7" } }));
  expect(await rejection(told.client().create({ prompt: "x" }))).toMatchObject({
    certainty: "unknown",
    retryable: true,
    retryAfterMs: 7000,
  });
  expect(told.seen).toHaveLength(1);
});

test.each([
  [302, "unknown"],
  [303, "unknown"],
  [301, "refused"],
  [307, "refused"],
  [308, "refused"],
  [408, "unknown"],
  [409, "refused"],
  [410, "refused"],
  [429, "refused"],
  [499, "unknown"],
  [500, "unknown"],
  [502, "unknown"],
  [503, "unknown"],
  [504, "unknown"],
  [529, "unknown"],
])("after a %i the outcome of every write is %s, and a read is refused", async (status, certainty) => {
  const headers = { location: "/api/v1/agent/runs/run-1" };
  await using api = await startLocalApi(() => ({ status, headers }));
  const client = api.client({ retries: 0 });
  const failures = await Promise.all(
    [
      client.create({ prompt: "x" }),
      client.followUp("run-1", { message: "x" }),
      client.dispatchToFactory("f-1", "x"),
      client.cancel("run-1"),
      client.request({ method: "PUT", path: "agent/schedules/s-1", repeatable: true }),
    ].map(rejection),
  );
  for (const error of failures) expect(error).toMatchObject({ status, certainty });
  expect(await rejection(client.fetch("run-1"))).toMatchObject({ status, certainty: "refused" });
  expect(api.seen).toHaveLength(6);
});

test("an account that must be connected comes with its link, if the link is valid", async () => {
  const reply = (auth_url: string) => problem("external_authentication_required", 401, { auth_url });
  await using good = await startLocalApi(() => reply("https://app.example.com/connect"));
  expect(await rejection(good.client().fetch("run-1"))).toMatchObject({
    link: "https://app.example.com/connect",
  });
  await using bad = await startLocalApi(() => reply("javascript:alert(1)"));
  expect(faultOf(await rejection(bad.client().fetch("run-1"))).link).toBeUndefined();
});

test.each([
  ["an empty body", ""],
  ["HTML", "<!doctype html><title>502 Bad Gateway</title>"],
  ["broken JSON", '{"detail": "cut o'],
  ["JSON of another kind", '["no"]'],
  ["fields of other types", '{"type":5,"title":null,"detail":{"a":1},"status":"x","retryable":"yes"}'],
])("%s still makes an error with a sentence", async (_, body) => {
  await using api = await startLocalApi(() => ({
    status: 502,
    headers: { "content-type": "text/html" },
    body,
  }));
  const error = await rejection(api.client({ retries: 0 }).cancel("run-1"));
  expect(error).toBeInstanceOf(errors.ServerError);
  expect(error).toMatchObject({ certainty: "unknown", retryable: true, status: 502 });
  expect(faultOf(error).reason).toMatch(/^The Agent Runs API .*\.$/);
  expect(faultOf(error).code).toBeUndefined();
});

test("one invalid field of a problem document does not spoil the others", async () => {
  await using api = await startLocalApi(() => problem("conflict", 409, { detail: 7, trace_id: null }));
  const error = await rejection(api.client().cancel("run-1"));
  expect(error).toMatchObject({ code: "conflict", reason: "A title: a detail." });
});

test("a failure whose body breaks off is still reported by its status", async () => {
  await using api = await startLocalApi(() => (response) => {
    response.writeHead(403, { "content-length": "1000" });
    response.write("half", () => response.destroy());
  });
  const error = await rejection(api.client().create({ prompt: "x" }));
  expect(error).toBeInstanceOf(errors.PermissionDeniedError);
  expect(error).toMatchObject({ certainty: "refused" });
});

test("a redirect is not followed", async () => {
  await using elsewhere = await startLocalApi(() => ({ body: { run_id: "stolen", state: "QUEUED" } }));
  await using api = await startLocalApi(() => ({
    status: 307,
    headers: { location: `${elsewhere.baseUrl}/agent/run` },
  }));
  const error = await rejection(api.client().create({ prompt: "x" }));
  expect(error).toBeInstanceOf(errors.StatusError);
  expect(error).toMatchObject({ certainty: "refused", retryable: false, status: 307 });
  expect(elsewhere.seen).toEqual([]);
});

test("a refused connection is certainly not sent", async () => {
  const api = await startLocalApi(() => ({}));
  await api.close();
  const error = await rejection(api.client({ retries: 0 }).create({ prompt: "x" }));
  expect(error).toBeInstanceOf(errors.ConnectionError);
  expect(error).toMatchObject({ certainty: "not-sent", retryable: true });
  expect(faultOf(error).status).toBeUndefined();
});

test("a request to an unknown host is certainly not sent", async () => {
  const api = await startLocalApi(() => ({}));
  await api.close();
  const client = api.client({ baseUrl: "http://agent-runs.invalid/api/v1", retries: 0 });
  expect(await rejection(client.create({ prompt: "x" }))).toMatchObject({ certainty: "not-sent" });
});

test("a failed TLS handshake is certainly not sent", async () => {
  await using api = await startLocalApi(() => ({}));
  const client = api.client({ baseUrl: api.baseUrl.replace("http:", "https:"), retries: 0 });
  const error = await rejection(client.create({ prompt: "x" }));
  expect(error).toBeInstanceOf(errors.ConnectionError);
  expect(error).toMatchObject({ certainty: "not-sent" });
  expect(api.seen).toEqual([]);
});

test("a create whose answer breaks off has an unknown outcome", async () => {
  await using api = await startLocalApi(() => (response) => {
    response.writeHead(200, { "content-length": "1000" });
    response.write('{"run_id":', () => response.destroy());
  });
  expect(await rejection(api.client().create({ prompt: "x" }))).toMatchObject({
    certainty: "unknown",
    retryable: true,
  });
  expect(api.seen).toHaveLength(1);
});

test("an account that must be connected is named with its provider", async () => {
  const more = { provider: "linear", auth_url: "https://app.example.com/connect" };
  await using api = await startLocalApi(() => problem("external_authentication_required", 401, more));
  expect(await rejection(api.client().fetch("run-1"))).toMatchObject({
    provider: "linear",
    link: "https://app.example.com/connect",
  });
});

test.each([
  ["no JSON", "<html>ok</html>", "the body"],
  ["nothing", "", "the body"],
  ["no run id", '{"state":"QUEUED"}', "run_id"],
  ["a state of another type", '{"run_id":"run-1","state":5}', "state"],
])(
  "a create whose answer has %s has an unknown outcome, is not retried, and names the field",
  async (_, body, field) => {
    await using api = await startLocalApi(() => ({ body }));
    const error = await rejection(api.client().create({ prompt: "x" }));
    expect(error).toBeInstanceOf(errors.ResponseSchemaError);
    expect(error).not.toBeInstanceOf(errors.StatusError);
    expect(error).not.toBeInstanceOf(errors.ConnectionError);
    expect(error).toMatchObject({ certainty: "unknown", retryable: true, status: 200, fields: [field] });
    expect(faultOf(error).reason).toContain(field);
    expect(api.seen).toHaveLength(1);
  },
);

test("a field deep inside an answer is named by its whole path", async () => {
  const runs = [run, { ...run, state: null }];
  await using api = await startLocalApi(() => ({ body: { runs, page_info: { has_next_page: "no" } } }));
  expect(await rejection(api.client().list())).toMatchObject({
    name: "ResponseSchemaError",
    fields: ["runs.1.state", "page_info.has_next_page"],
  });
});

test("an answer that is nested too deeply is an ordinary error", async () => {
  const depth = 20_000;
  const steps = `${'[{"id":"a","steps":'.repeat(depth)}[]${"}]".repeat(depth)}`;
  await using api = await startLocalApi(() => ({ body: `{"conversation_id":"c","steps":${steps}}` }));
  expect(await rejection(api.client().conversation("run-1"))).toMatchObject({
    name: "ResponseSchemaError",
    fields: ["the body"],
  });
});
