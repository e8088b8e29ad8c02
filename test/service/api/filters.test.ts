/** The list's filters as the public document of the API has them. */
import OzAPI from "oz-agent-sdk";
import { expect, test } from "vitest";
import { emptyCatalog, type FactorySpec } from "#service/catalog.ts";
import { eventually } from "#test/support/eventually.ts";
import { type Api, apiKey, invalid, problemOf, serving } from "#test/support/service/serving.ts";

/** The first words of the matching prompts, oldest first. */
const found = async (api: Api, query: string): Promise<string[]> =>
  (await api.list(`${query}&sort_by=created_at&sort_order=asc`)).runs.map(({ prompt }) => prompt);

test.each([
  "state=QUEUED&state=BLOCKED",
  "state[]=QUEUED&state[]=BLOCKED",
  "state[0]=QUEUED&state[1]=BLOCKED",
])("states are filtered in the form %s", async (query) => {
  const { api } = await serving({ command: "cat; echo; echo AGENT_BLOCKED", maxRuns: 1 });
  const asking = await api.create({ prompt: "asking" });
  await api.until(asking, "BLOCKED");
  expect(await found(api, query)).toEqual(["asking"]);
  expect(await found(api, query.replaceAll("BLOCKED", "FAILED"))).toEqual([]);
  expect(await found(api, query.replaceAll("=", "%5B%5D=").replaceAll(/\[\d*\]/g, ""))).toEqual(["asking"]);
  expect(await problemOf(api.send("GET", `/agent/runs?${query}x`))).toMatchObject(invalid);
});

test("runs are found by the type of their artifacts, also after a later turn", async () => {
  const { api } = await serving({
    command:
      'cat > given; if grep -q file given; then echo x > "$AGENT_ARTIFACTS/a.txt"; fi; ' +
      "if grep -q pull given; then echo https://github.com/octo/app/pull/7; fi; cat given",
  });
  for (const prompt of ["file", "pull", "neither"])
    await api.until(await api.create({ prompt }), "SUCCEEDED");
  expect(await found(api, "artifact_type=FILE")).toEqual(["file"]);
  expect(await found(api, "artifact_type=PULL_REQUEST")).toEqual(["pull"]);
  expect(await found(api, "artifact_type=PULL_REQUEST&name=other")).toEqual([]);
  for (const none of ["PLAN", "SCREENSHOT", "EXTERNAL_REFERENCE"]) {
    expect(await found(api, `artifact_type=${none}`)).toEqual([]);
  }
  expect(await problemOf(api.send("GET", "/agent/runs?artifact_type=X"))).toMatchObject({
    ...invalid,
    detail: expect.stringContaining("artifact_type"),
  });
  const [neither = ""] = (await api.list("q=neither")).runs.map(({ run_id }) => run_id);
  await api.followUp(neither, "pull");
  await eventually(
    "the second turn's pull request",
    async () => (await api.run(neither)).artifacts?.length === 1,
  );
  expect(await found(api, "artifact_type=PULL_REQUEST")).toEqual(["pull", "neither"]);
});

test("runs are found by an ancestor at any distance; the ancestor and the parent must exist", async () => {
  const { api } = await serving({ demoStepMs: 600_000 });
  const child = (prompt: string, parent: string) => api.create({ prompt, parent_run_id: parent });
  const root = await api.create({ prompt: "root" });
  const first = await child("first", root);
  await child("second", root);
  await child("grandchild", first);
  await child("stranger's", await api.create({ prompt: "stranger" }));
  expect(await found(api, `ancestor_run_id=${root}`)).toEqual(["first", "second", "grandchild"]);
  expect(await found(api, `ancestor_run_id=${first}`)).toEqual(["grandchild"]);
  expect(await found(api, `ancestor_run_id=${root}&q=second&state=QUEUED,INPROGRESS`)).toEqual(["second"]);
  for (const asked of [
    api.send("GET", "/agent/runs?ancestor_run_id=gone"),
    api.send("POST", "/agent/run", { prompt: "x", parent_run_id: "gone" }),
  ]) {
    expect(await problemOf(asked)).toMatchObject({ ...invalid, detail: expect.stringContaining("gone") });
  }
});

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

test("runs are found by their factory, their automation, their environment and by having none", async () => {
  const { api } = await serving({
    demoStepMs: 600_000,
    catalog: { ...emptyCatalog, factories: [fixers] },
  });
  await api.send("POST", "/factory/fixers/runs", { prompt: "made" });
  await api.create({ prompt: "plain", metadata: { automation_id: "nightly" } });
  await api.create({ prompt: "placed", config: { environment_id: "app" } });
  expect(await found(api, "factory_uid=fixers")).toEqual(["made"]);
  expect(await found(api, "factory_uid=other")).toEqual([]);
  expect(await found(api, "automation_id=nightly")).toEqual(["plain"]);
  expect(await found(api, "automation_id=other")).toEqual([]);
  expect(await found(api, "environment_id=app")).toEqual(["placed"]);
  expect(await found(api, "environment_id=empty-environment")).toEqual(["made", "plain"]);
});

test("a filter that no run of this service can meet lists nothing", async () => {
  const { api } = await serving({ demoStepMs: 600_000 });
  await api.create({ prompt: "x" });
  expect(await found(api, "execution_location=LOCAL&executor=api-key&creator=api-key&source=API")).toEqual([
    "x",
  ]);
  for (const none of [
    "schedule_id=s-1",
    "execution_location=REMOTE",
    "executor=somebody",
    "creator=somebody",
    "source=SLACK",
  ]) {
    expect(await found(api, none)).toEqual([]);
  }
  expect(await problemOf(api.send("GET", "/agent/runs?execution_location=MOON"))).toMatchObject(invalid);
});

test("sorted by agent, runs stand by their skill, and those without one last in either order", async () => {
  const { api } = await serving({ demoStepMs: 600_000 });
  for (const [prompt, skill] of [
    ["none", undefined],
    ["b", "octo/app:b"],
    ["a", "octo/app:a"],
    ["none too", undefined],
  ] as const) {
    await api.create({ prompt, config: { name: "z" }, ...(skill && { skill }) });
  }
  const sorted = async (order: string): Promise<string[]> => {
    const read: string[] = [];
    for (let cursor = ""; ; ) {
      const page = await api.list(`sort_by=agent&sort_order=${order}&limit=1&cursor=${cursor}`);
      read.push(...page.runs.map(({ prompt }) => prompt));
      if (!page.page_info.next_cursor) return read;
      cursor = page.page_info.next_cursor;
    }
  };
  expect(await sorted("asc")).toEqual(["a", "b", "none", "none too"]);
  expect(await sorted("desc")).toEqual(["b", "a", "none too", "none"]);
});

test("the official client's filters that few know arrive as it sends them", async () => {
  const { api } = await serving({ demoStepMs: 600_000 });
  const client = new OzAPI({ apiKey, baseURL: `${api.address}/api/v1`, maxRetries: 0 });
  await client.agent.run({ prompt: "x" });
  const count = async (query: object): Promise<number> => (await client.agent.runs.list(query)).runs.length;
  expect(await count({ artifact_type: "PLAN" })).toBe(0);
  expect(await count({ schedule_id: "s" })).toBe(0);
  expect(await count({ execution_location: "LOCAL", sort_by: "agent", sort_order: "asc" })).toBe(1);
  expect(await count({ metadata: { ticket: "7" } })).toBe(0);
  await expect(client.get("/agent/runs", { query: { colour: "red" } })).rejects.toBeInstanceOf(
    OzAPI.BadRequestError,
  );
});
