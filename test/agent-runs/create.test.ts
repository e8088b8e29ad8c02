import { expect, test } from "vitest";
import { createAgentRunsClient } from "../../src/agent-runs/client.ts";
import { InvalidRequestError } from "../../src/agent-runs/errors.ts";
import type { CreateRequest } from "../../src/core/run.ts";
import type { AgentRuns, Factories, Transcripts } from "../../src/ports.ts";
import { apiKey, rejection, startLocalApi } from "./local-api.ts";

const created = { run_id: "run-1", task_id: "run-1", state: "QUEUED" };

test("a run is created with the key, the prompt and everything else that was asked for", async () => {
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

test("a slash after the base URL makes no difference", async () => {
  await using api = await startLocalApi(() => ({ body: created }));
  await api.client({ baseUrl: `${api.baseUrl}/` }).create({ prompt: "fix it" });
  expect(api.seen.map((asked) => asked.url.pathname)).toEqual(["/api/v1/agent/run"]);
});

test("a follow-up and a cancel go to their run, whose id is encoded", async () => {
  await using api = await startLocalApi(() => ({ body: '"run/1"' }));
  await api.client().followUp("run/1", { message: "and the docs" });
  expect(await api.client().cancel("run/1")).toBe("run/1");
  expect(api.seen.map((asked) => [asked.method, asked.url.pathname, asked.body])).toEqual([
    ["POST", "/api/v1/agent/runs/run%2F1/followups", '{"message":"and the docs"}'],
    ["POST", "/api/v1/agent/runs/run%2F1/cancel", ""],
  ]);
});

test("a follow-up and a cancel are done when the status says so, whatever the body is", async () => {
  await using api = await startLocalApi(() => ({ body: "<html>fine</html>" }));
  await api.client().followUp("run-1", { message: "go on" });
  expect(await api.client().cancel("run-1")).toBe("run-1");
});

test.each([
  ["no prompt and no skill", { title: "nothing to do" }],
  ["metadata with a key that the service rejects", { prompt: "x", metadata: { "a key": "b" } }],
  ["metadata with a value that is too long", { prompt: "x", metadata: { key: "é".repeat(129) } }],
])("a run with %s is not sent", async (_, request) => {
  await using api = await startLocalApi(() => ({ body: created }));
  const error = await rejection(api.client().create(request));
  expect(error).toBeInstanceOf(InvalidRequestError);
  expect(error).toMatchObject({ certainty: "not-sent", retryable: false });
  expect(api.seen).toEqual([]);
});

test.each(["", ".", ".."])("%j is no run's id and asks no other endpoint", async (id) => {
  await using api = await startLocalApi(() => ({ body: {} }));
  expect(await rejection(api.client().fetch(id))).toBeInstanceOf(InvalidRequestError);
  expect(await rejection(api.client().followUp(id, { message: "x" }))).toBeInstanceOf(InvalidRequestError);
  expect(api.seen).toEqual([]);
});

test("an unfit base URL or key is told at once, without repeating it", () => {
  const make = (baseUrl: string, key: string) => () => createAgentRunsClient({ baseUrl, apiKey: key });
  expect(make("api.example.com/api/v1", apiKey)).toThrow(TypeError);
  expect(make("https://user:hush@api.example.com/api/v1", apiKey)).toThrow(/^(?!.*hush)/);
  expect(make("https://api.example.com/api/v1", `${apiKey}\n`)).toThrow(/^(?!.*secret)/);
});

test("the client is what the bot's ports ask for", async () => {
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
