import { expect, test } from "vitest";
import { problem, rejection, startLocalApi } from "#test/support/agent-runs/local-api.ts";

const said = (role: string, ...texts: string[]) => ({
  role,
  content: texts.map((text) => ({ type: "text", text })),
});

test("messages are the texts of user and assistant, step by step, with inner steps last", async () => {
  await using api = await startLocalApi(() => ({
    body: {
      conversation_id: "c-1",
      steps: [
        {
          id: "1",
          messages: [
            said("system", "rules"),
            said("user", "fix it"),
            {
              role: "assistant",
              content: [
                { type: "action", name: "run" },
                { type: "text", text: "on it" },
              ],
            },
          ],
          steps: [
            { id: "1.1", messages: [said("assistant", "looking")], steps: null },
            { id: "1.2", messages: [said("tool", "output"), said("assistant", "found", "it")], steps: [] },
          ],
        },
        { id: "2", messages: null, steps: [{ id: "2.1", messages: [said("assistant", "done")], steps: [] }] },
        { id: "3", messages: [said("assistant", " "), { role: "assistant", content: null }], steps: [] },
      ],
    },
  }));
  expect(await api.client().messages("run-1")).toEqual([
    { role: "user", text: "fix it" },
    { role: "assistant", text: "on it" },
    { role: "assistant", text: "looking" },
    { role: "assistant", text: "found\n\nit" },
    { role: "assistant", text: "done" },
    { role: "assistant", text: " " },
    { role: "assistant", text: "" },
  ]);
  expect(api.seen[0]?.url.pathname).toBe("/api/v1/agent/runs/run-1/conversation");
});

test("a message has a time if the API gives one", async () => {
  const messages = [{ ...said("user", "hi"), timestamp: "2026-01-01T00:00:01Z" }, said("assistant", "hello")];
  await using api = await startLocalApi(() => ({
    body: { conversation_id: "c-1", steps: [{ id: "1", messages, steps: [] }] },
  }));
  expect(await api.client().messages("run-1")).toStrictEqual([
    { role: "user", text: "hi", at: "2026-01-01T00:00:01Z" },
    { role: "assistant", text: "hello" },
  ]);
});

test("the raw conversation is returned unchanged", async () => {
  const body = { conversation_id: "c-1", steps: [{ id: "1", messages: [said("user", "hi")], steps: [] }] };
  await using api = await startLocalApi(() => ({ body }));
  expect(await api.client().conversation("run-1")).toEqual(body);
});

test.each([
  [404, []],
  [422, null],
])("a run whose conversation is a %i has no messages", async (status, messages) => {
  await using api = await startLocalApi(() => problem("resource_not_found", status));
  expect(await api.client().messages("run-1")).toEqual(messages);
  expect(await rejection(api.client().conversation("run-1"))).toMatchObject({ status });
});

test("a failure to read the conversation is not the same as having none", async () => {
  await using api = await startLocalApi(() => ({ status: 500 }));
  expect(await rejection(api.client().messages("run-1"))).toMatchObject({ status: 500 });
});
