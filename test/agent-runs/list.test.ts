import { expect, test } from "vitest";
import { ResponseSchemaError } from "#agent-runs/errors.ts";
import { rejection, run, startLocalApi } from "#test/support/agent-runs/local-api.ts";

const page = (ids: readonly string[], next?: string) => ({
  body: {
    runs: ids.map((run_id) => ({ ...run, run_id })),
    page_info: next === undefined ? { has_next_page: false } : { has_next_page: true, next_cursor: next },
  },
});

test("a query is encoded as the service expects it", async () => {
  await using api = await startLocalApi(() => page([]));
  await api.client().list({
    limit: 500,
    name: "agent runs & co",
    state: ["QUEUED", "INPROGRESS"],
    sort_by: "created_at",
    created_after: "2026-01-01T00:00:00+02:00",
    metadata: { "agent-runs-bot.dispatch": "d=1&2" },
  });
  const [asked] = api.seen;
  expect(asked?.url.pathname).toBe("/api/v1/agent/runs");
  expect([...(asked?.url.searchParams ?? [])].sort()).toEqual(
    [
      ["created_after", "2026-01-01T00:00:00+02:00"],
      ["limit", "500"],
      ["metadata[agent-runs-bot.dispatch]", "d=1&2"],
      ["name", "agent runs & co"],
      ["sort_by", "created_at"],
      ["state", "QUEUED"],
      ["state", "INPROGRESS"],
    ].sort(),
  );
});

test("every filter of the service is sent", async () => {
  await using api = await startLocalApi(() => page([]));
  const query = {
    created_after: "2026-01-01T00:00:00Z",
    created_before: "2026-01-02T00:00:00Z",
    updated_after: "2026-01-01T12:00:00Z",
    creator: "u-1",
    executor: "u-2",
    source: "API",
    execution_location: "REMOTE",
    model_id: "m-1",
    environment_id: "e-1",
    skill: "a/b:c",
    skill_spec: "a/b:c",
    schedule_id: "s-1",
    ancestor_run_id: "run-0",
    artifact_type: "FILE",
    automation_id: "auto-1",
    factory_uid: "f-1",
    sort_order: "asc",
    q: "flaky",
  } as const;
  await api.client().list({ ...query, metadata: { a: "1", "b.c": "é&=" } });
  expect(Object.fromEntries(api.seen[0]?.url.searchParams ?? [])).toEqual({
    ...query,
    "metadata[a]": "1",
    "metadata[b.c]": "é&=",
  });
});

test.each([
  ["Sun, 06 Nov 1994 08:49:37 GMT", Date.UTC(1994, 10, 6, 8, 49, 37)],
  ["soon", undefined],
  ["-5", undefined],
])("a page served at %j has the time %j", async (date, servedAt) => {
  await using api = await startLocalApi(() => ({ headers: { date }, body: page(["a"]).body }));
  expect((await api.client().list()).servedAt).toBe(servedAt);
});

test("a page of a service that gives no date, or gives its own field, has no time", async () => {
  const body = JSON.stringify({ ...page(["a"]).body, servedAt: 5 });
  await using api = await startLocalApi(() => (response) => {
    response.sendDate = false;
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
  expect((await api.client().list()).servedAt).toBeUndefined();
});

test("a list without a query has none in its URL", async () => {
  await using api = await startLocalApi(() => page(["a"]));
  const { runs } = await api.client().list();
  expect(runs.map((each) => each.run_id)).toEqual(["a"]);
  expect(api.seen[0]?.url.search).toBe("");
});

test("one run is fetched by its id", async () => {
  await using api = await startLocalApi(() => ({ body: run }));
  expect(await api.client().fetch("run-1")).toMatchObject(run);
  expect(api.seen[0]?.url.pathname).toBe("/api/v1/agent/runs/run-1");
});

test("all runs are read page by page, with the query repeated on each", async () => {
  await using api = await startLocalApi(({ url }) => {
    const cursor = url.searchParams.get("cursor");
    return cursor === null ? page(["a", "b"], "2") : cursor === "2" ? page([], "3") : page(["c"]);
  });
  const runs = await Array.fromAsync(api.client().listAll({ name: "bot", limit: 2 }));
  expect(runs.map((each) => each.run_id)).toEqual(["a", "b", "c"]);
  expect(api.seen.map(({ url }) => [url.searchParams.get("name"), url.searchParams.get("cursor")])).toEqual([
    ["bot", null],
    ["bot", "2"],
    ["bot", "3"],
  ]);
});

test("no further page is requested after the caller stops", async () => {
  await using api = await startLocalApi(() => page(["a"], "2"));
  for await (const each of api.client().listAll()) {
    expect(each.run_id).toBe("a");
    break;
  }
  expect(api.seen).toHaveLength(1);
});

test.each([
  ["lacks its cursor", { has_next_page: true, next_cursor: null }],
  ["repeats its cursor", { has_next_page: true, next_cursor: "2" }],
])("a list that %s is an error, neither a short list nor an endless one", async (_, page_info) => {
  await using api = await startLocalApi(() => ({ body: { runs: [run], page_info } }));
  const error = await rejection(Array.fromAsync(api.client().listAll()));
  expect(error).toBeInstanceOf(ResponseSchemaError);
});

test("an empty cursor does not lead to the first page again", async () => {
  await using api = await startLocalApi(() => page(["a"], ""));
  await rejection(Array.fromAsync(api.client().listAll()));
  expect(api.seen).toHaveLength(1);
});
