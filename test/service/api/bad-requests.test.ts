import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { emptyCatalog, type FactorySpec } from "#service/catalog.ts";
import { apiKey, invalid, problemOf, serving, servingAll } from "#test/support/service/serving.ts";

const fixers: FactorySpec = {
  uid: "fixers",
  name: "Fixers",
  aliases: [],
  description: null,
  basePrompt: null,
  environmentId: null,
  modelId: null,
  skill: null,
  command: null,
};

const { api } = await servingAll({ catalog: { ...emptyCatalog, factories: [fixers] } });
/** Gets no run. */
const { api: empty } = await servingAll();

test.each([
  "text/plain",
  "application/x-www-form-urlencoded",
  "application/json; charset=latin1",
  "nonsense",
  "",
])("JSON is read under the content type %j too", async (type) => {
  const answer = await api.send("POST", "/agent/run", { prompt: "x" }, { "content-type": type });
  expect(answer.status).toBe(200);
});

test("a body of another kind is refused as not JSON", async () => {
  for (const [body, type] of [
    ["prompt=x", "application/x-www-form-urlencoded"],
    ["prompt: x", "application/yaml"],
    ["--a\r\n\r\n--a--", "multipart/form-data; boundary=a"],
  ] as const) {
    const found = await problemOf(api.send("POST", "/agent/run", body, { "content-type": type }));
    expect(found).toMatchObject({ ...invalid, detail: expect.stringContaining("not JSON") });
  }
});

test("a compressed body and one that is not UTF-8 are refused with the reason", async () => {
  const send = (body: Uint8Array<ArrayBuffer>, headers: Record<string, string>): Promise<Response> =>
    fetch(`${api.address}/api/v1/agent/run`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, ...headers },
      body,
    });
  const zipped = new Uint8Array(gzipSync(JSON.stringify({ prompt: "x" })));
  expect(await problemOf(send(zipped, { "content-encoding": "gzip" }))).toMatchObject({
    http: 415,
    detail: expect.stringContaining("Content-Encoding"),
  });
  const latin = new Uint8Array(Buffer.from(JSON.stringify({ prompt: "ü" }), "latin1"));
  expect(await problemOf(send(latin, {}))).toMatchObject({
    ...invalid,
    detail: expect.stringContaining("UTF-8"),
  });
});

test.each([
  [{ prompt: "x", config: { environment_id: 7 } }, "config.environment_id"],
  [{ prompt: "x", config: { mcp_servers: { a: {} } } }, "config.mcp_servers.a"],
  [{ prompt: "x", config: { mcp_servers: { a: { command: "c", url: "u" } } } }, "config.mcp_servers.a"],
  [{ prompt: "x", config: { mcp_servers: { a: { command: "c", args: "x" } } } }, "config.mcp_servers.a.args"],
  [{ prompt: "x", conversation_id: 7 }, "conversation_id"],
  [{ prompt: "x", conversation_id: "none" }, "conversation_id"],
  [{ prompt: "x", mode: "fast" }, "mode"],
  [{ prompt: "x", parent_run_id: [] }, "parent_run_id"],
  [{ prompt: "x", parent_run_id: "gone" }, "parent_run_id: there is no run gone"],
  [{ prompt: "x", agent_identity_uid: "gone" }, "agent_identity_uid: there are no agent identities here"],
  [{ prompt: "x", agent_identity_uid: null }, "agent_identity_uid"],
  [
    { prompt: "x", config: { idle_timeout_minutes: 0 } },
    "config.idle_timeout_minutes: it must be 1 at least",
  ],
  [{ prompt: "x", config: { idle_timeout_minutes: 61 } }, "config.idle_timeout_minutes: it must be 60"],
  [{ prompt: "x", config: { idle_timeout_minutes: 1.5 } }, "config.idle_timeout_minutes"],
  [{ prompt: "x", config: { mcp_servers: { a: null } } }, "config.mcp_servers.a"],
  [{ prompt: "x", config: { mcp_servers: { a: { command: null } } } }, "config.mcp_servers.a"],
  [{ prompt: "x", config: { mcp_servers: [null] } }, "config.mcp_servers"],
  [{ prompt: "x", config: null }, "config"],
  [{ prompt: "x", attachments: [null] }, "attachments.0"],
  [{ prompt: "x", images: [null] }, "images.0"],
  [{ prompt: "x", metadata: { a: null } }, "metadata.a"],
  [{ prompt: "x", metadata: { "": "x" } }, "metadata."],
  [{ prompt: "x", metadata: [] }, "metadata"],
  [{ prompt: "x", images: [{ mime_type: "text/html", data: "" }] }, "images.0.mime_type"],
  [{ prompt: "x", images: [{ mime_type: "image/png", data: "%" }] }, "images.0.data"],
  [{ skill: "" }, "prompt"],
  [{ skill: "", config: { skill_spec: "" } }, "prompt"],
  [null, "the body"],
])("a create with the body %j is refused and the problem names the field", async (body, named) => {
  const found = await problemOf(empty.send("POST", "/agent/runs", JSON.stringify(body)));
  expect(found).toMatchObject({ ...invalid, detail: expect.stringContaining(named) });
  expect((await empty.list("")).runs).toEqual([]);
});

test.each([
  ["/agent/runs?limit=1.5", "limit"],
  ["/agent/runs?limit=-1", "limit"],
  ["/agent/runs?limit=1e9", "limit"],
  ["/agent/runs?created_after=2026-01-01", "created_after"],
  ["/agent/runs?updated_after=2026-01-01T00:00:00+00:00", "updated_after"],
  ["/agent/runs?state=QUEUED,SLEEPING", "state"],
  ["/agent/runs?metadata=x", "metadata"],
  ["/agent/runs?metadata[]=x", "metadata"],
  ["/agent/runs?metadata[a=x", "metadata"],
  ["/agent/runs?cursor=%00", "cursor"],
  ["/agent/runs?cursor=eyJhIjoxfQ", "cursor"],
  ["/agent/runs?limit=0", "limit"],
  ["/agent/runs?limit=501", "limit"],
  ["/agent/runs?limit=many", "limit"],
  ["/agent/runs?sort_by=colour", "sort_by"],
  ["/agent/runs?sort_order=up", "sort_order"],
  ["/agent/runs?state=SLEEPING", "state"],
  ["/agent/runs?created_after=yesterday", "created_after"],
  ["/agent/runs?created_before=2026", "created_before"],
  ["/agent/runs?updated_after=1", "updated_after"],
  ["/agent/runs?cursor=nonsense", "cursor"],
  [
    "/agent/runs?metadata[a]=1&metadata[b]=1&metadata[c]=1&metadata[d]=1&metadata[e]=1&metadata[f]=1",
    "metadata",
  ],
  ["/agent?sort_by=colour", "sort_by"],
  ["/agent?repo=octo", "repo"],
  ["/agent?refresh=perhaps", "refresh"],
  ["/agent/environments?sort_by=colour", "sort_by"],
  ["/factory?limit=101", "limit"],
  ["/factory?cursor=nonsense", "cursor"],
])("GET %s is refused and the problem names the parameter", async (path, named) => {
  expect(await problemOf(api.send("GET", path))).toMatchObject({
    ...invalid,
    detail: expect.stringContaining(named),
  });
});

test.each([
  "/agent/runs?artifact=FILE",
  "/agent/runs?colour=",
  "/agent/runs?State=QUEUED",
  "/agent/runs?states[]=QUEUED",
  "/agent/runs?name[]=x",
  "/agent/runs?state[x]=QUEUED",
  "/agent/environments?name=x",
  "/agent/models?name=x",
  "/agent?name=x",
  "/factory?name=x",
])("GET %s is refused, because no such filter exists, and the problem names it", async (path) => {
  const name = /\?(.*)=/.exec(path)?.[1] ?? "";
  expect(await problemOf(api.send("GET", path))).toMatchObject({
    ...invalid,
    detail: expect.stringContaining(`${name}: there is no such parameter`),
  });
});

test.each(["name=a&name=b", "name=a&config_name=b", "skill=a&skill_spec=b", "limit=1&limit=2"])(
  "the query %s has two values of one filter and is refused",
  async (query) => {
    expect(await problemOf(api.send("GET", `/agent/runs?${query}`))).toMatchObject(invalid);
    const [first = ""] = query.split("&");
    expect((await empty.list(`${first}&${first}`)).runs).toEqual([]);
  },
);

test.each([
  [
    "POST",
    "/agent/run",
    { prompt: "x", attachments: [{ data: "" }] },
    "attachments.0.file_name: it is required",
  ],
  ["POST", "/factory/fixers/runs", {}, "prompt: it is required"],
  ["POST", "/agent/runs/{runId}/followups", {}, "message: it is required"],
  ["POST", "/agent/runs/{runId}/followups", { message: "" }, "message: it is empty"],
  ["GET", "/agent/runs?limit=0", undefined, "limit: it must be a whole number from 1 to 500"],
  ["GET", "/agent/runs?limit=abc", undefined, "limit: it must be a whole number from 1 to 500"],
  [
    "GET",
    "/agent/runs?created_after=2026-01-31T08:00:00+01:00",
    undefined,
    "created_after: it must be an RFC 3339 time, such as 2026-01-31T08:00:00Z",
  ],
  ["GET", "/factory?limit=101", undefined, "limit: it must be a whole number from 1 to 100"],
])("%s %s with %j is refused in plain words", async (method, path, body, words) => {
  const real = path.replace("{runId}", await api.create({ prompt: "x" }));
  const { detail } = await problemOf(api.send(method, real, body));
  expect(detail?.split("; ")[0]).toBe(words);
});

test("an empty Content-Encoding counts as none", async () => {
  const answer = await api.send("POST", "/agent/run", { prompt: "x" }, { "content-encoding": "" });
  expect(answer.status).toBe(200);
});

test.each(["%zz", "%E0%A4%A", "%00%0a", "..%2f..", "a%5Cb", "__proto__", "constructor", "x".repeat(8000)])(
  "an unknown run %s gets a short 404",
  async (id) => {
    for (const [method, path] of [
      ["GET", `/agent/runs/${id}`],
      ["GET", `/agent/runs/${id}/conversation`],
      ["POST", `/agent/runs/${id}/cancel`],
      ["GET", `/factory/${id}`],
    ] as const) {
      const found = await problemOf(api.send(method, path));
      expect(found).toMatchObject({ http: 404, type: expect.stringMatching(/\/resource_not_found$/) });
      expect(found.detail?.length).toBeLessThan(200);
    }
    const followUp = api.send("POST", `/agent/runs/${id}/followups`, { message: "x" });
    expect(await problemOf(followUp)).toMatchObject({ http: 404 });
  },
);

test("HEAD responds like GET without a body, and OPTIONS lists the methods", async () => {
  for (const [path, status] of [
    ["/agent/runs", 200],
    ["/agent/runs/none", 404],
    ["/openapi.json", 200],
  ] as const) {
    const answer = await api.send("HEAD", path);
    expect([path, answer.status, await answer.text()]).toEqual([path, status, ""]);
  }
  const options = await api.send("OPTIONS", "/agent/runs");
  expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, POST"]);
  expect((await api.send("OPTIONS", "/elsewhere")).status).toBe(404);
});

test("no response to a bad request repeats its key", async () => {
  const wrong = "key-of-somebody-else";
  const answers = [
    await api.send("GET", "/agent/runs", undefined, { authorization: `Bearer ${wrong}` }),
    await api.send("POST", "/agent/run", "{", { authorization: `Bearer ${apiKey}` }),
    await api.send("GET", `/agent/runs?limit=0`, undefined, { authorization: `Bearer ${apiKey}` }),
  ];
  for (const answer of answers) {
    const text = await answer.text();
    expect(text).not.toContain(wrong);
    expect(text).not.toContain(apiKey);
  }
});

test("a body is refused if it is nested too deeply to be serialised again", async () => {
  const { api } = await serving();
  const nested = (levels: number) =>
    `{"prompt":"x","config":{"harness":${'{"a":'.repeat(levels)}1${"}".repeat(levels)}}}`;
  const found = await problemOf(api.send("POST", "/agent/run", nested(100_000)));
  expect(found).toMatchObject({ ...invalid, detail: expect.stringContaining("levels deep") });
  expect((await api.send("POST", "/agent/run", nested(50))).status).toBe(200);
  expect((await api.list("")).runs).toHaveLength(1);
});

test.each([
  ["sort_by=updated_at", "sort_by=created_at"],
  ["sort_by=title", "sort_by=agent"],
  ["sort_order=asc", "sort_order=desc"],
])("a cursor of a list with %s is refused by a list with %s", async (one, other) => {
  for (const title of ["a", "b"]) await api.send("POST", "/agent/run", { prompt: "x", title });
  const { next_cursor } = (await api.list(`limit=1&${one}`)).page_info;
  expect((await api.list(`limit=1&${one}&cursor=${next_cursor}`)).runs).toHaveLength(1);
  const found = await problemOf(api.send("GET", `/agent/runs?limit=1&${other}&cursor=${next_cursor}`));
  expect(found).toMatchObject({ ...invalid, detail: expect.stringContaining("cursor") });
});
