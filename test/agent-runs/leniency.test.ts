import { expect, test } from "vitest";
import { rejection, run, startLocalApi } from "./local-api.ts";

const fetched = async (body: unknown) => {
  await using api = await startLocalApi(() => ({ body }));
  return await api.client().fetch("run-1");
};

test("an unknown state is read as it is", async () => {
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

test("an optional field of a new shape counts as missing and spoils nothing else", async () => {
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

test("null for a list of runs is an empty list", async () => {
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

test("a list that says nothing of further pages is an error: it may be cut short", async () => {
  await using api = await startLocalApi(() => ({ body: { runs: [run] } }));
  expect(await rejection(api.client().list())).toMatchObject({ name: "ResponseSchemaError" });
});
