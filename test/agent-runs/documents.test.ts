import { expect, test } from "vitest";
import { NotFoundError } from "#agent-runs/errors.ts";
import { apiKey, inTurn, problem, rejection, startLocalApi } from "#test/support/agent-runs/local-api.ts";

test("an artifact is fetched by its uid", async () => {
  const body = {
    artifact_uid: "a 1",
    artifact_type: "FILE",
    created_at: "2026-01-01T00:00:00Z",
    data: { download_url: "https://files.example.com/1", filename: "report.html", size_bytes: null, more: 1 },
  };
  await using api = await startLocalApi(() => ({ body }));
  expect(await api.client().artifact("a 1")).toEqual(body);
  expect(api.seen[0]?.url.pathname).toBe("/api/v1/agent/artifacts/a%201");
});

test("a conversation is fetched by its own id", async () => {
  const body = { conversation_id: "c-1", steps: [{ id: "s-1", messages: [], steps: [] }] };
  await using api = await startLocalApi(() => ({ body }));
  expect(await api.client().conversationById("c-1")).toEqual(body);
  expect(api.seen[0]?.url.pathname).toBe("/api/v1/agent/conversations/c-1");
});

test("a session leads to its conversation, or nowhere", async () => {
  await using api = await startLocalApi(inTurn({ body: { conversation_id: "c-1" } }, { body: {} }));
  const client = api.client();
  expect(await client.sessionRedirect("s-1")).toEqual({ conversation_id: "c-1" });
  expect(await client.sessionRedirect("s-1")).toEqual({});
  expect(api.seen[0]?.url.pathname).toBe("/api/v1/agent/sessions/s-1/redirect");
});

test("a transcript is read as it is, also behind a redirect to another host, which doesn't get the key", async () => {
  const text = '{"role":"user"}\n{"role":"assistant"}\n';
  await using storage = await startLocalApi(() => ({ body: text }));
  await using api = await startLocalApi(
    inTurn({ body: text }, { status: 302, headers: { location: `${storage.baseUrl}/signed?for=you` } }),
  );
  const client = api.client();
  expect(await client.transcript("run-1")).toBe(text);
  expect(await client.transcript("run-1")).toBe(text);
  expect(api.seen.map(({ url, headers }) => [url.pathname, headers.authorization])).toEqual([
    ["/api/v1/agent/runs/run-1/transcript", `Bearer ${apiKey}`],
    ["/api/v1/agent/runs/run-1/transcript", `Bearer ${apiKey}`],
  ]);
  expect(storage.seen).toHaveLength(1);
  expect(storage.seen[0]?.headers).not.toHaveProperty("authorization");
});

test.each(["artifact", "conversationById", "transcript", "sessionRedirect"] as const)(
  "%s rejects for an unknown id, and sends nothing for an impossible one",
  async (name) => {
    await using api = await startLocalApi(() => problem("resource_not_found", 404));
    const client = api.client();
    expect(await rejection(client[name]("gone"))).toBeInstanceOf(NotFoundError);
    expect(await rejection(client[name](".."))).toMatchObject({ name: "InvalidRequestError" });
    expect(api.seen).toHaveLength(1);
  },
);
