import { expect, test } from "vitest";
import { z } from "zod";
import type { Catalog } from "#service/catalog.ts";
import { serving } from "#test/support/service/serving.ts";

const operation = z.object({
  operationId: z.string(),
  security: z.array(z.unknown()).optional(),
  parameters: z.array(z.object({ name: z.string(), in: z.string(), schema: z.looseObject({}) })),
  requestBody: z.looseObject({}).optional(),
  responses: z.record(
    z.string(),
    z.object({ content: z.record(z.string(), z.object({ schema: z.looseObject({}) })) }),
  ),
});
const openApi = z.object({
  openapi: z.string(),
  servers: z.tuple([z.object({ url: z.string() })]),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({ schemas: z.record(z.string(), z.looseObject({})) }),
});
type OpenApi = z.infer<typeof openApi>;

const catalog: Catalog = {
  environments: [
    {
      id: "app",
      description: "The app",
      repository: "https://user:password@github.example.com/octo/app.git",
      branch: null,
      setup: ["npm ci"],
      command: "cat",
      variables: { TOKEN: "secret" },
    },
  ],
  defaultModelId: "fast",
  models: [{ id: "fast", name: "Fast", provider: "OPENAI", vision: false }],
  skills: [{ spec: "octo/app:review", description: "Reviews", file: "/nowhere/SKILL.md" }],
  factories: [
    {
      uid: "fixers",
      name: "Fixers",
      aliases: ["fix"],
      description: "Fixes",
      basePrompt: "Fix it.",
      environmentId: null,
      modelId: "fast",
      skill: null,
      command: "cat",
    },
  ],
};

async function described() {
  const it = await serving({ command: "cat", catalog });
  const answer = await fetch(`${it.api.address}/api/v1/openapi.json`);
  expect(answer.status).toBe(200);
  return { ...it, document: openApi.parse(await answer.json()) };
}

/** All documented operations with method and path. */
const operationsOf = ({ paths }: OpenApi) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ path, method: method.toUpperCase(), one })),
  );

/**
 * A schema that accepts only documented members, except where the contract passes unknown ones on.
 */
function readerOf({ components }: OpenApi, schema: unknown): z.ZodType {
  const open = new Set(["AmbientAgentConfig", "MCPServerConfig", "Metadata"]);
  const closed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(closed);
    if (typeof value !== "object" || value === null) return value;
    const members = Object.entries(value).map(([key, inner]) => [
      key,
      key === "$ref" && typeof inner === "string"
        ? inner.replace("#/components/schemas/", "#/$defs/")
        : closed(inner),
    ]);
    const copy = Object.fromEntries(members);
    if (copy.type === "object" && copy.properties !== undefined) copy.additionalProperties = false;
    return copy;
  };
  const referring = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value).replaceAll("#/components/schemas/", "#/$defs/"));
  const $defs = Object.fromEntries(
    Object.entries(components.schemas).map(([name, each]) => [
      name,
      open.has(name) ? referring(each) : closed(each),
    ]),
  );
  const whole = z.record(z.string(), z.json()).parse({ ...z.looseObject({}).parse(closed(schema)), $defs });
  return z.fromJSONSchema(whole);
}

test("each documented path accepts its methods and refuses all others", async () => {
  const { api, document } = await described();
  const id = await api.create({ prompt: "x" });
  for (const [path, methods] of Object.entries(document.paths)) {
    const known = Object.keys(methods).map((method) => method.toUpperCase());
    const real = path.replace("{runId}", id).replace("{uid}", "fixers");
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      const answer = await api.send(method, real);
      await answer.body?.cancel();
      expect([method, path, answer.status === 405]).toEqual([method, path, !known.includes(method)]);
      if (answer.status !== 405) continue;
      const allowed = answer.headers
        .get("allow")
        ?.split(", ")
        .filter((each) => each !== "HEAD");
      expect(allowed?.sort()).toEqual(known.sort());
    }
  }
});

test("each documented operation has a unique name and declares its path's parameters", async () => {
  const { document } = await described();
  const all = operationsOf(document);
  expect(new Set(all.map(({ one }) => one.operationId)).size).toBe(all.length);
  for (const { path, one } of all) {
    const inPath = one.parameters.filter((each) => each.in === "path").map(({ name }) => `{${name}}`);
    expect(inPath).toEqual(path.match(/\{\w+\}/g) ?? []);
    expect(Object.keys(one.responses).filter((status) => /^[23]/.test(status))).toHaveLength(1);
  }
  expect(document.servers[0].url).toBe("/api/v1");
});

test("every reference in the document resolves", async () => {
  const { document } = await described();
  const named = JSON.stringify(document).match(/#\/components\/schemas\/\w+/g) ?? [];
  expect(named.length).toBeGreaterThan(20);
  const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
  expect([...new Set(named)].filter((one) => !known.includes(one))).toEqual([]);
});

test("only endpoints documented as open respond without a key", async () => {
  const { api, document } = await described();
  const id = await api.create({ prompt: "x" });
  for (const { path, method, one } of operationsOf(document)) {
    const real = path.replace("{runId}", id).replace("{uid}", "fixers");
    const answer = await api.send(method, real, undefined, { authorization: "" });
    await answer.body?.cancel();
    expect([path, answer.status === 401]).toEqual([path, one.security === undefined]);
  }
});

test("the service's responses match its document, member for member", async () => {
  const { api, document } = await described();
  const config = {
    name: "n",
    environment_id: "app",
    mcp_servers: { files: { command: "mcp", args: ["x"] } },
  };
  const body = { prompt: "See https://github.com/octo/app/pull/7", metadata: { a: "b" } };
  const documented = async (
    method: "GET" | "POST",
    path: string,
    sent?: unknown,
    fill: Readonly<Record<string, string>> = {},
    query = "",
  ) => {
    const real = path.replaceAll(/\{(\w+)\}/g, (_, name) => fill[name] ?? "");
    const answer = await api.send(method, `${real}${query}`, sent);
    const media = answer.headers.get("content-type")?.split(";")[0] ?? "";
    const schema =
      document.paths[path]?.[method.toLowerCase()]?.responses[answer.status]?.content[media]?.schema;
    if (schema === undefined) throw new Error(`${method} ${path} answered ${answer.status}, ${media}`);
    const value: unknown = await answer.json();
    const read = readerOf(document, schema).safeParse(value);
    expect([method, path, read.error?.issues ?? []]).toEqual([method, path, []]);
    return { status: answer.status, value };
  };

  const created = await documented("POST", "/agent/run", body);
  const { run_id: runId } = z.object({ run_id: z.string() }).parse(created.value);
  await api.until(runId, "SUCCEEDED");
  await documented("POST", "/agent/runs", {
    prompt: "x",
    config: { ...config, environment_id: null },
    parent_run_id: runId,
  });
  await documented("GET", "/agent/runs/{runId}", undefined, { runId });
  await documented("GET", "/agent/runs", undefined, {}, "?limit=1");
  await documented("GET", "/agent/runs/{runId}/conversation", undefined, { runId });
  await documented("POST", "/agent/runs/{runId}/followups", { message: "more" }, { runId });
  await documented("GET", "/agent/environments");
  await documented("GET", "/agent/models");
  await documented("GET", "/openapi.json");
  const skills = await documented("GET", "/agent", undefined, {}, "?include_malformed_skills=true");
  expect(JSON.stringify(skills.value)).toContain("octo/app:review");
  await documented("GET", "/factory");
  await documented("GET", "/factory/{uid}", undefined, { uid: "fixers" });
  const sent = await documented("POST", "/factory/{uid}/runs", { prompt: "x" }, { uid: "fixers" });
  expect(sent.status).toBe(200);
  await api.until(runId, "SUCCEEDED");
  const slow = await api.create({ prompt: "x", config: { environment_id: null } });
  await documented("POST", "/agent/runs/{runId}/cancel", undefined, { runId: slow });

  const refused = [
    await documented("POST", "/agent/run", { prompt: 7 }),
    await documented("GET", "/agent/runs", undefined, {}, "?limit=0"),
    await documented("GET", "/agent/runs/{runId}", undefined, { runId: "none" }),
    await documented("POST", "/agent/runs/{runId}/cancel", undefined, { runId }),
    await documented("GET", "/factory/{uid}", undefined, { uid: "none" }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 404, 400, 404]);
});

test("this test's reader refuses values that the document does not allow", async () => {
  const { document } = await described();
  const reader = readerOf(document, { $ref: "#/components/schemas/RunAgentResponse" });
  const good = { run_id: "r", task_id: "r", state: "QUEUED", at_capacity: false };
  expect(reader.safeParse(good).success).toBe(true);
  expect(reader.safeParse({ ...good, state: "SLEEPING" }).success).toBe(false);
  expect(reader.safeParse({ ...good, task_id: null }).success).toBe(false);
  expect(reader.safeParse({ ...good, other: 1 }).success).toBe(false);
  expect(reader.safeParse({ run_id: "r" }).success).toBe(false);
});

test("the list understands each documented filter", async () => {
  const { api, document } = await described();
  const parameters = document.paths["/agent/runs"]?.get?.parameters ?? [];
  expect(parameters.length).toBeGreaterThan(15);
  for (const { name, schema } of parameters) {
    // This value suits only parameters that take any text.
    const wrong = await api.send("GET", `/agent/runs?${name}=%00wrong`);
    const answer = await wrong.json();
    const takesText = schema.type === "string" && schema.format === undefined && schema.enum === undefined;
    if (!takesText || name === "cursor" || name === "ancestor_run_id")
      expect([name, answer]).toEqual([name, expect.objectContaining({ status: 400 })]);
    else expect([name, answer]).toEqual([name, expect.objectContaining({ runs: [] })]);
  }
});

test("the documentation page shows every operation and every shape and runs no script", async () => {
  const { api, document } = await described();
  const answer = await fetch(`${api.address}/api/v1/docs`);
  const page = await answer.text();
  for (const { one } of operationsOf(document)) expect(page).toContain(`id="${one.operationId}"`);
  for (const name of Object.keys(document.components.schemas)) expect(page).toContain(`id="shape-${name}"`);
  expect(page).toContain('map of name to <a href="#shape-MCPServerConfig">');
  const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, to]) => to);
  expect(links.filter((to) => !page.includes(`id="${to}"`))).toEqual([]);
  expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(page).not.toMatch(/<script|javascript:|https?:\/\/[^ ]*\.js/i);
});
