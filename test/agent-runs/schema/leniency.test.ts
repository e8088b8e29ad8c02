import { expect, test } from "vitest";
import { createRequest } from "#agent-runs/schema.ts";
import { rejection, run, startLocalApi } from "#test/support/agent-runs/local-api.ts";

const fetched = async (body: unknown) => {
  await using api = await startLocalApi(() => ({ body }));
  return await api.client().fetch("run-1");
};

test("an unknown state is kept", async () => {
  expect(await fetched({ ...run, state: "HIBERNATING" })).toMatchObject({ state: "HIBERNATING" });
});

test("unknown fields are kept", async () => {
  const body = { ...run, mood: "good", agent_config: { name: "bot", harness: { type: "x" } } };
  expect(await fetched(body)).toEqual(body);
});

test("optional fields may be null", async () => {
  const body = {
    ...run,
    session_link: null,
    agent_config: null,
    creator: null,
    metadata: null,
    status_message: null,
    artifacts: null,
    started_at: null,
  };
  expect(await fetched(body)).toEqual(body);
});

test("an optional field of an unknown shape counts as missing and spoils nothing else", async () => {
  const read = await fetched({
    ...run,
    session_link: { href: "https://x" },
    status_message: "a plain text",
    agent_config: { name: "bot", mcp_servers: ["a list"] },
    metadata: { kept: "yes", count: 5 },
    artifacts: [{ artifact_type: "PULL_REQUEST", data: { url: "https://pr" } }, "no artifact", { kind: 1 }],
  });
  expect(read.session_link).toBeUndefined();
  expect(read.status_message).toBeUndefined();
  expect(read.agent_config?.name).toBe("bot");
  expect(read.metadata).toEqual({ kept: "yes" });
  expect(read.artifacts).toEqual([{ artifact_type: "PULL_REQUEST", data: { url: "https://pr" } }]);
});

test("a run without a title or a prompt has empty ones", async () => {
  const { title: _title, prompt: _prompt, ...rest } = run;
  expect(await fetched({ ...rest, title: null })).toMatchObject({ title: "", prompt: "" });
});

test("null is an empty list of runs", async () => {
  await using api = await startLocalApi(() => ({
    body: { runs: null, page_info: { has_next_page: false } },
  }));
  expect((await api.client().list()).runs).toEqual([]);
});

test.each([
  ["a run without an id", { ...run, run_id: undefined }],
  ["a run without a state", { ...run, state: null }],
])("%s is an error and not a run", async (_, body) => {
  expect(await rejection(fetched(body))).toMatchObject({ name: "ResponseSchemaError", certainty: "refused" });
});

test("a list without page_info is an error: it may be incomplete", async () => {
  await using api = await startLocalApi(() => ({ body: { runs: [run] } }));
  expect(await rejection(api.client().list())).toMatchObject({ name: "ResponseSchemaError" });
});

test("a map keeps an entry of any name, even __proto__", async () => {
  // Written as text: in a literal of ours, this name would be the prototype.
  const metadata = JSON.parse('{"__proto__":"kept","constructor":"kept too","n":1}');
  const servers = JSON.parse('{"__proto__":{"url":"https://mcp.example.com"}}');
  const read = await fetched({ ...run, metadata, agent_config: { mcp_servers: servers } });
  expect(Object.entries(read.metadata ?? {})).toEqual([
    ["__proto__", "kept"],
    ["constructor", "kept too"],
  ]);
  expect(JSON.stringify(read.agent_config?.mcp_servers)).toBe(JSON.stringify(servers));
  expect(Object.getPrototypeOf(read.metadata)).toBe(Object.prototype);
});

test("metadata called __proto__ is sent like any other", async () => {
  await using api = await startLocalApi(() => ({ body: { run_id: "run-1", state: "QUEUED" } }));
  const metadata: Record<string, string> = JSON.parse('{"__proto__":"sent"}');
  await api.client().create({ prompt: "x", metadata });
  expect(api.seen[0]?.body).toBe('{"prompt":"x","metadata":{"__proto__":"sent"}}');
  const read = createRequest.parse(JSON.parse(api.seen[0]?.body ?? ""));
  expect(Object.entries(read.metadata ?? {})).toEqual([["__proto__", "sent"]]);
});

test("every type of artifact is read with its fields, an unknown type with all of them", async () => {
  const artifacts = [
    { artifact_type: "PULL_REQUEST", created_at: "t", data: { url: "https://pr", branch: "fix" } },
    {
      artifact_type: "PLAN",
      created_at: "t",
      data: { document_uid: "d", title: "Plan", url: "https://plan" },
    },
    { artifact_type: "SCREENSHOT", created_at: "t", data: { artifact_uid: "a", mime_type: "image/png" } },
    { artifact_type: "FILE", created_at: "t", data: { filename: "f", filepath: "d/f", size_bytes: 7 } },
    { artifact_type: "EXTERNAL_REFERENCE", created_at: "t", data: { reference_type: "ticket", url: "u" } },
    { artifact_type: "HOLOGRAM", created_at: "t", data: { depth: 3 } },
  ];
  expect((await fetched({ ...run, artifacts })).artifacts).toEqual(artifacts);
});

test("every optional field of a run is read", async () => {
  const body = {
    ...run,
    started_at: "2026-01-01T00:00:10Z",
    session_id: "s-1",
    session_link: "https://app.example.com/s-1",
    conversation_id: "c-1",
    creator: { type: "user", uid: "u-1", display_name: "Ann", photo_url: "https://photo" },
    executor: { type: "service_account", uid: "u-2" },
    source: "A_NEW_SOURCE",
    trigger_url: "https://chat.example.com/p1",
    metadata: { key: "value" },
    status_message: { message: "No credits", error_code: "insufficient_credits", retryable: false },
    request_usage: { inference_cost: 1.5, inference_cost_usd: 0.1, total_tokens: 7, by: { model: 1 } },
    run_time: "PT2M",
    execution_location: "REMOTE",
    is_run_type_cancellable: true,
    is_sandbox_running: false,
    parent_run_id: "run-0",
    agent_skill: { name: "deploy", full_path: "SKILL.md" },
    schedule: { schedule_id: "x", schedule_name: "nightly", cron_schedule: "0 9 * * *" },
    scope: { type: "Team", uid: "t-1" },
  };
  const read = await fetched(body);
  expect(read).toEqual(body);
  expect([read.request_usage?.inference_cost_usd, read.status_message?.error_code]).toEqual([
    0.1,
    "insufficient_credits",
  ]);
});
