import { expect, test } from "vitest";
import { createAgentRunsClient } from "#agent-runs/client.ts";
import { InvalidRequestError, ResponseSchemaError } from "#agent-runs/errors.ts";
import type { NewRun } from "#agent-runs/schema.ts";
import type { CreateRequest } from "#core/run.ts";
import type { AgentRuns, Factories, Transcripts } from "#ports.ts";
import { apiKey, rejection, startLocalApi } from "#test/support/agent-runs/local-api.ts";

const created = { run_id: "run-1", task_id: "run-1", state: "QUEUED" };

const attachment = { file_name: "a.png", mime_type: "image/png", data: "AAAA" };
const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, ""]));
const withServer = (one: Readonly<Record<string, unknown>>) => ({
  prompt: "x",
  config: { mcp_servers: { one } },
});

test("a run is created with the key, the prompt and all other fields", async () => {
  await using api = await startLocalApi(() => ({ body: created }));
  const request: CreateRequest = {
    prompt: "fix the flaky test",
    title: "Fix",
    config: {
      name: "agent-runs-bot",
      model_id: "m-1",
      mcp_servers: { tracker: { url: "https://tracker.example.com", headers: { a: "b" } } },
    },
    metadata: { "agent-runs-bot.dispatch": "d-1" },
  };
  expect(await api.client().create(request)).toMatchObject(created);
  expect(api.seen).toHaveLength(1);
  const [asked] = api.seen;
  expect(asked).toMatchObject({ method: "POST" });
  expect(asked?.url.pathname).toBe("/api/v1/agent/run");
  expect(asked?.headers.authorization).toBe(`Bearer ${apiKey}`);
  expect(asked?.headers["content-type"]).toBe("application/json");
  expect(JSON.parse(asked?.body ?? "")).toEqual(request);
});

test("every field of a new run is sent unchanged", async () => {
  await using api = await startLocalApi(() => ({ body: { ...created, at_capacity: true } }));
  const request: NewRun = {
    title: "Fix",
    config: {
      name: "bot",
      base_prompt: "Be brief.",
      environment_id: "env-1",
      skills: ["a/b:c"],
      mcp_servers: { shared: { warp_id: "s-1" }, files: { command: "files", args: ["-r"], env: { A: "b" } } },
      worker_host: "mine",
      computer_use_enabled: false,
      idle_timeout_minutes: 5,
      harness: { type: "x" },
    },
    skill: "acme/app:deploy",
    conversation_id: "c-1",
    attachments: [attachment],
    metadata: pairs(20),
    mode: "plan",
    interactive: true,
    team: false,
    agent_identity_uid: "a-1",
    on_behalf_of: "u-1",
    parent_run_id: "run-0",
  };
  expect(await api.client().create(request)).toMatchObject({ run_id: "run-1", at_capacity: true });
  expect(JSON.parse(api.seen[0]?.body ?? "")).toEqual(request);
});

test("a list with an invalid limit is not requested", async () => {
  await using api = await startLocalApi(() => ({ body: created }));
  for (const limit of [0, 501, 1.5]) {
    const error = await rejection(api.client().list({ limit }));
    expect(error).toMatchObject({ name: "InvalidRequestError", fields: ["limit"] });
  }
  expect(api.seen).toEqual([]);
});

test("a slash after the base URL makes no difference", async () => {
  await using api = await startLocalApi(() => ({ body: created }));
  await api.client({ baseUrl: `${api.baseUrl}/` }).create({ prompt: "fix it" });
  expect(api.seen.map((asked) => asked.url.pathname)).toEqual(["/api/v1/agent/run"]);
});

test("a follow-up and a cancel are sent to their run, with its id encoded", async () => {
  await using api = await startLocalApi(() => ({ body: '"run/1"' }));
  await api.client().followUp("run/1", { message: "and the docs" });
  expect(await api.client().cancel("run/1")).toBe("run/1");
  expect(api.seen.map((asked) => [asked.method, asked.url.pathname, asked.body])).toEqual([
    ["POST", "/api/v1/agent/runs/run%2F1/followups", '{"message":"and the docs"}'],
    ["POST", "/api/v1/agent/runs/run%2F1/cancel", ""],
  ]);
});

test("a follow-up and a cancel succeed by their status, whatever the body", async () => {
  await using api = await startLocalApi(() => ({ body: "{fine" }));
  await api.client().followUp("run-1", { message: "go on" });
  expect(await api.client().cancel("run-1")).toBe("run-1");
});

test("an HTML response is an error: it may come from a proxy whose service is down", async () => {
  const headers = { "content-type": "text/html; charset=utf-8" };
  await using api = await startLocalApi(() => ({ headers, body: "<html>Back soon</html>" }));
  const followUp = await rejection(api.client().followUp("run-1", { message: "go on" }));
  expect(followUp).toBeInstanceOf(ResponseSchemaError);
  // The service may have received it, so it must be looked up.
  expect(followUp).toMatchObject({ certainty: "unknown", retryable: true });
  const cancel = await rejection(api.client().cancel("run-1"));
  expect(cancel).toBeInstanceOf(ResponseSchemaError);
  expect(cancel).toMatchObject({ retryable: true });
});

test.each([
  ["no prompt and no skill", { title: "nothing to do" }, "prompt"],
  ["a key that the service rejects", { prompt: "x", metadata: { "a key": "b" } }, "metadata.a key"],
  ["a value that is too long", { prompt: "x", metadata: { key: "é".repeat(129) } }, "metadata.key"],
  ["a value with a NUL", { prompt: "x", metadata: { key: "\0" } }, "metadata.key"],
  ["too much metadata", { prompt: "x", metadata: pairs(21) }, "metadata"],
  ["too many attachments", { prompt: "x", attachments: Array(6).fill(attachment) }, "attachments"],
  ["a server that is reached in two ways", withServer({ url: "u", command: "c" }), "config.mcp_servers.one"],
  ["a server that is reached in no way", withServer({ args: [] }), "config.mcp_servers.one"],
])("a run with %s is not sent, and the field is named", async (_, request, field) => {
  await using api = await startLocalApi(() => ({ body: created }));
  const error = await rejection(api.client().create(request));
  expect(error).toBeInstanceOf(InvalidRequestError);
  expect(error).toMatchObject({ certainty: "not-sent", retryable: false, fields: [field] });
  expect(api.seen).toEqual([]);
});

test.each(["", ".", "..", "half\ud800"])(
  "%j is not a run's id, and no other endpoint is called",
  async (id) => {
    await using api = await startLocalApi(() => ({ body: {} }));
    expect(await rejection(api.client().fetch(id))).toBeInstanceOf(InvalidRequestError);
    expect(await rejection(api.client().followUp(id, { message: "x" }))).toBeInstanceOf(InvalidRequestError);
    expect(api.seen).toEqual([]);
  },
);

test("an invalid base URL or key is an error that does not repeat it", () => {
  const make = (baseUrl: string, key: string) => () => createAgentRunsClient({ baseUrl, apiKey: key });
  expect(make("api.example.com/api/v1", apiKey)).toThrow(TypeError);
  expect(make("https://user:hush@api.example.com/api/v1", apiKey)).toThrow(/^(?!.*hush)/);
  expect(make("https://api.example.com/api/v1", `${apiKey}\n`)).toThrow(/^(?!.*secret)/);
});

test("the client satisfies the bot's ports", async () => {
  await using api = await startLocalApi(() => ({ body: created }));
  const client = api.client();
  // The assignments are the check; tsc makes it.
  const ports: { runs: AgentRuns; transcripts: Transcripts; factories: Factories } = {
    runs: client,
    transcripts: client,
    factories: client,
  };
  expect(await ports.factories.dispatchToFactory("f-1", "build it")).toMatchObject(created);
  expect(api.seen.map((asked) => [asked.url.pathname, asked.body])).toEqual([
    ["/api/v1/factory/f-1/runs", '{"prompt":"build it"}'],
  ]);
});
