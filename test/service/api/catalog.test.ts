import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createAgentRunsClient } from "#agent-runs/client.ts";
import { environmentsResponse, factoryList, modelsResponse, skillsResponse } from "#agent-runs/schema.ts";
import type { Catalog, FactorySpec } from "#service/catalog.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { gitEnvironment, offering, repository } from "#test/support/service/git-repository.ts";
import { type Api, apiKey, problemOf, serving } from "#test/support/service/serving.ts";

const factory = (
  spec: Partial<FactorySpec> & { readonly uid: string; readonly name: string },
): FactorySpec => ({
  aliases: [],
  description: null,
  basePrompt: null,
  environmentId: null,
  modelId: null,
  skill: null,
  command: null,
  ...spec,
});

const models = [
  { id: "fast", name: "Fast one", provider: "OPENAI", vision: true },
  { id: "slow", name: "Slow one", provider: "ANTHROPIC", vision: false },
];

async function offered(catalog: Partial<Catalog>, command = "cat"): Promise<Api> {
  const { api } = await serving({ command, environment: gitEnvironment, catalog: offering({}, catalog) });
  return api;
}

const refusedOf = (api: Api, config: object) =>
  problemOf(api.send("POST", "/agent/run", { prompt: "x", config }));

test("if environments are declared, another one is refused with the field and the declared ids", async () => {
  const api = await offered({});
  expect(await refusedOf(api, { environment_id: "gone" })).toMatchObject({
    http: 400,
    type: expect.stringMatching(/\/invalid_request$/),
    detail: "config.environment_id: it must be one of app",
  });
  for (const environment_id of ["app", null, ""])
    await api.create({ prompt: "x", config: { environment_id } });
  expect((await api.list("")).runs).toHaveLength(3);
});

test("if models are declared, another one is refused and a run without a model gets the default", async () => {
  const api = await offered({ models, defaultModelId: "slow" });
  expect(await refusedOf(api, { model_id: "gone" })).toMatchObject({
    http: 400,
    detail: "config.model_id: it must be one of fast, slow",
  });
  const plain = await api.create({ prompt: "x" });
  const chosen = await api.create({ prompt: "x", config: { model_id: "fast" } });
  expect((await api.run(plain)).agent_config?.model_id).toBe("slow");
  expect((await api.run(chosen)).agent_config?.model_id).toBe("fast");
  expect((await api.list("model_id=slow")).runs.map(({ run_id }) => run_id)).toEqual([plain]);
});

test("the bounds of idle_timeout_minutes are accepted", async () => {
  const { api } = await serving({ command: "cat" });
  for (const idle_timeout_minutes of [1, 60, null]) {
    const id = await api.create({ prompt: "x", config: { idle_timeout_minutes } });
    expect((await api.run(id)).agent_config?.idle_timeout_minutes).toBe(idle_timeout_minutes);
  }
});

const review = { spec: "octo/app:review", description: null, file: import.meta.filename };

test("if skills are declared, one that is neither declared nor in an environment's repository is refused", async () => {
  const { path } = await repository({ "skills/deploy/SKILL.md": "Deploy." });
  const catalog = offering({ repository: path }, { skills: [review] });
  const { api } = await serving({ command: "cat", environment: gitEnvironment, catalog });
  for (const body of [
    { skill: "octo/app:gone" },
    { skill: "octo/other:review" },
    { prompt: "x", config: { skill_spec: "review" } },
  ]) {
    expect(await problemOf(api.send("POST", "/agent/run", body))).toMatchObject({
      http: 400,
      type: expect.stringMatching(/\/invalid_request$/),
      detail: expect.stringMatching(/^skill: .* is not known.*octo\/app:review/),
    });
  }
  // A path may lead to a file that the list of skills doesn't look at.
  for (const skill of ["octo/app:review", "octo/app:deploy", "octo/app:docs/SKILL.md"]) {
    expect((await api.send("POST", "/agent/run", { skill })).status).toBe(200);
  }
  expect((await api.list("")).runs).toHaveLength(3);
});

test("a skill is not refused because its repository can't be read", async () => {
  const catalog = offering({ repository: "/nowhere/octo/app" }, { skills: [review] });
  const { api } = await serving({ command: "cat", environment: gitEnvironment, catalog });
  expect((await api.send("POST", "/agent/run", { skill: "octo/app:deploy" })).status).toBe(200);
});

test("an environment's last_updated is the time of its last changed declaration, across starts", async () => {
  const folder = await freshFolder();
  const spec = { description: null, repository: null, branch: null, setup: [], command: null };
  const start = async (now: number, description: string | null, token: string) => {
    const environments = [
      { ...spec, id: "first", variables: { TOKEN: token } },
      { ...spec, id: "second", description, variables: {} },
    ];
    const catalog = { ...offering({}), environments };
    const { api, stop } = await serving({ folder, catalog, now: () => now });
    const answer = environmentsResponse.parse(await (await api.send("GET", "/agent/environments")).json());
    await stop();
    return answer.environments.map(({ uid, last_updated }) => [uid, Date.parse(last_updated ?? "")]);
  };
  const day = 86_400_000;
  const begin = 1_800_000_000_000;
  expect(await start(begin, null, "secret-1")).toEqual([
    ["first", begin],
    ["second", begin],
  ]);
  expect(await start(begin + day, "changed", "secret-2")).toEqual([
    ["second", begin + day],
    ["first", begin],
  ]);
  expect(await start(begin + 2 * day, "changed", "secret-2")).toEqual([
    ["second", begin + day],
    ["first", begin],
  ]);
  expect(await readFile(join(folder, "service", "environments.json"), "utf8")).not.toContain("secret");
  await writeFile(join(folder, "service", "environments.json"), "{");
  expect(await start(begin + 3 * day, "changed", "secret-2")).toEqual([
    ["first", begin + 3 * day],
    ["second", begin + 3 * day],
  ]);
});

test("if nothing is declared, any environment and any model is accepted", async () => {
  const { api } = await serving({ command: 'echo "$AGENT_ENVIRONMENT_ID $AGENT_MODEL_ID $AGENT_MODEL"' });
  const id = await api.create({ prompt: "x", config: { environment_id: "any", model_id: "m" } });
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toMatch(/^assistant: any .*\bm\b/);
  expect(modelsResponse.parse(await (await api.send("GET", "/agent/models")).json())).toEqual({ models: [] });
  expect(await (await api.send("GET", "/agent/environments")).json()).toEqual({ environments: [] });
  expect(await (await api.send("GET", "/agent")).json()).toEqual({ agents: [] });
  expect(await (await api.send("GET", "/factory")).json()).toMatchObject({ factories: [] });
});

test("an environment shows its last run and no secrets", async () => {
  const { api } = await serving({
    command: "cat",
    catalog: offering({
      repository: "git@github.com:octo/app.git",
      description: "The app",
      variables: { TOKEN: "secret-of-the-app" },
      command: "cat; true secret-of-the-command",
      setup: ["npm ci"],
    }),
  });
  const read = async () => {
    const text = await (await api.send("GET", "/agent/environments?sort_by=name")).text();
    expect(text).not.toContain("secret");
    return environmentsResponse.parse(JSON.parse(text)).environments;
  };
  expect(await read()).toEqual([
    {
      uid: "app",
      config: {
        name: "app",
        description: "The app",
        github_repos: [{ owner: "octo", repo: "app" }],
        setup_commands: ["npm ci"],
      },
      last_updated: expect.stringMatching(/^20\d\d-.*Z$/),
      setup_failed: false,
    },
  ]);
});

test("an environment shows that its set-up failed", async () => {
  const api = (await serving({ command: "cat", catalog: offering({ setup: ["exit 3"] }) })).api;
  const id = await api.create({ prompt: "x", title: "Last", config: { environment_id: "app" } });
  await api.until(id, "FAILED");
  const { environments } = environmentsResponse.parse(
    await (await api.send("GET", "/agent/environments")).json(),
  );
  expect(environments).toMatchObject([
    { setup_failed: true, last_task_created: { id, title: "Last", state: "FAILED" } },
  ]);
});

const factories = [
  factory({ uid: "f-1", name: "Payments", aliases: ["pay", "money"] }),
  factory({ uid: "f-2", name: "Prepaid cards", description: "Cards" }),
  factory({ uid: "f-3", name: "Search" }),
];

const uidsOf = async (api: Api, query: string): Promise<string[]> =>
  factoryList
    .parse(await (await api.send("GET", `/factory?${query}`)).json())
    .factories.map(({ uid }) => uid);

test("factories are found by a part of their name or alias in any case, page by page", async () => {
  const api = await offered({ factories });
  expect(await uidsOf(api, "")).toEqual(["f-1", "f-2", "f-3"]);
  expect(await uidsOf(api, "search=PAY")).toEqual(["f-1"]);
  expect(await uidsOf(api, "search=paid")).toEqual(["f-2"]);
  expect(await uidsOf(api, "search=Mon")).toEqual(["f-1"]);
  expect(await uidsOf(api, "search=nothing")).toEqual([]);
  const first = factoryList.parse(await (await api.send("GET", "/factory?limit=2")).json());
  expect(first.page_info).toMatchObject({ has_next_page: true });
  expect(await uidsOf(api, `limit=2&cursor=${first.page_info?.next_cursor}`)).toEqual(["f-3"]);
  const one = await (await api.send("GET", "/factory/f-1")).json();
  expect(one).toMatchObject({ uid: "f-1", name: "Payments", alias: "pay", aliases: ["pay", "money"] });
  expect(await problemOf(api.send("GET", "/factory/f-9"))).toMatchObject({ http: 404 });
});

test("a prompt sent to a factory becomes a run with its base prompt, environment, model, skill and command", async () => {
  const fixers = factory({
    uid: "fixers",
    name: "Fixers",
    basePrompt: "Fix it.",
    environmentId: "app",
    modelId: "slow",
    skill: "octo/app:review",
    command: "echo factory; cat",
  });
  const api = await offered({ models, defaultModelId: "fast", factories: [fixers] }, "echo service; cat");
  const ticket = { ticket_ref: "LIN-7", ticket_url: "https://tracker.example.com/7" };
  const answer = await api.send("POST", "/factory/fixers/runs", {
    prompt: "The test",
    title: "T",
    ...ticket,
  });
  const sent = await answer.json();
  expect(sent).toMatchObject({ factory_uid: "fixers", ticket_ref: "LIN-7", state: "QUEUED" });
  expect((await fetch(sent.run_url)).status).toBe(200);
  const run = await api.until(sent.run_id, "SUCCEEDED");
  expect(run).toMatchObject({
    title: "T",
    prompt: "The test",
    metadata: ticket,
    agent_config: {
      name: "Fixers",
      base_prompt: "Fix it.",
      environment_id: "app",
      model_id: "slow",
      skill_spec: "octo/app:review",
    },
  });
  const said = (await api.said(sent.run_id)).at(-1) ?? "";
  expect(said).toMatch(/^assistant: factory\n/);
  expect(said).toContain("Fix it.");
  expect((await api.list("name=Fixers")).runs.map(({ run_id }) => run_id)).toEqual([sent.run_id]);
  await api.followUp(sent.run_id, "More");
  await api.until(sent.run_id, "SUCCEEDED");
  expect(
    (await api.said(sent.run_id)).filter((words) => words.startsWith("assistant: factory")),
  ).toHaveLength(2);
});

test.each([
  [{}, "prompt"],
  [{ prompt: " " }, "prompt"],
  [{ prompt: "x", title: 7 }, "title"],
  [{ prompt: "x", ticket_ref: "ü".repeat(129) }, "ticket_ref"],
  [{ prompt: "x", ticket_url: "\0" }, "ticket_url"],
])("a factory refuses the body %j and names the fault", async (body, named) => {
  const api = await offered({ factories });
  expect(await problemOf(api.send("POST", "/factory/f-1/runs", body))).toMatchObject({
    http: 400,
    detail: expect.stringContaining(named),
  });
  expect((await api.list("")).runs).toEqual([]);
});

test("the bot's client finds a factory by its name and sends it a prompt", async () => {
  const api = await offered({ factories });
  const client = createAgentRunsClient({ baseUrl: `${api.address}/api/v1`, apiKey });
  expect(await client.findFactory("payMENTS")).toBe("f-1");
  expect(await client.findFactory("money")).toBe("f-1");
  expect(await client.findFactory("nobody")).toBeNull();
  const { run_id } = await client.dispatchToFactory("f-3", "Look");
  expect((await api.until(run_id, "SUCCEEDED")).prompt).toBe("Look");
});

const skillsOf = async (api: Api, query = "") =>
  skillsResponse.parse(await (await api.send("GET", `/agent?${query}`)).json()).agents;

test("the skills of an environment's repository are listed beside the declared ones", async () => {
  const { path, commit } = await repository({
    ".agents/skills/release/SKILL.md":
      '---\nname: release\ndescription: "Releases it"\n---\nHow to release.\n',
    ".claude/skills/review/SKILL.md": "Of the repository.\n",
    "skills/triage/SKILL.md": "---\ndescription: Sorts issues\n---\n",
    "skills/triage/more.md": "More.\n",
    "docs/SKILL.md": "Elsewhere.\n",
  });
  const file = join(await freshFolder(), "SKILL.md");
  await writeFile(file, "---\ndescription: Declared\n---\nOf the operator.\n");
  const { api } = await serving({
    command: "cat",
    environment: gitEnvironment,
    catalog: offering(
      { repository: path },
      { skills: [{ spec: "octo/app:review", description: null, file }] },
    ),
  });
  const release = {
    id: "octo/app:.agents/skills/release/SKILL.md",
    description: "Releases it",
    source: { owner: "octo", name: "app", skill_path: ".agents/skills/release/SKILL.md" },
    environments: [{ uid: "app", name: "app" }],
  };
  expect(await skillsOf(api)).toMatchObject([
    { name: "release", variants: [release] },
    { name: "review", variants: [{ id: "octo/app:review", description: "Declared" }] },
    { name: "triage", variants: [{ description: "Sorts issues" }] },
  ]);
  expect(await skillsOf(api, "repo=octo/other")).toEqual([]);

  const id = await api.create({ prompt: "x", skill: release.id });
  const other = await api.create({ prompt: "x", skill: "octo/app:triage" });
  await Promise.all([api.until(id, "SUCCEEDED"), api.until(other, "SUCCEEDED")]);
  const byRun = await skillsOf(api, "sort_by=last_run");
  expect(byRun.map(({ name }) => name).at(-1)).toBe("review");
  expect(byRun[0]?.variants[0]?.last_run_timestamp).toMatch(/^\d{4}-/);

  await commit({ "skills/new/SKILL.md": "New.\n" });
  expect((await skillsOf(api)).map(({ name }) => name)).not.toContain("new");
  expect((await skillsOf(api, "refresh=true")).map(({ name }) => name)).toContain("new");
});

test("a declared skill whose file can't be read is listed only on request", async () => {
  const skills = [{ spec: "octo/app:gone", description: "Gone", file: "/nowhere/SKILL.md" }];
  const api = await offered({ skills });
  expect(await skillsOf(api)).toEqual([]);
  expect(await skillsOf(api, "include_malformed_skills=true")).toMatchObject([
    { name: "gone", variants: [{ id: "octo/app:gone", error: expect.any(String) }] },
  ]);
});

test("a repository that can't be reached has no skills and does not break the list", async () => {
  const { api, lines } = await serving({
    command: "cat",
    environment: gitEnvironment,
    catalog: offering({ repository: "/nowhere/octo/app" }),
  });
  expect(await skillsOf(api)).toEqual([]);
  expect(lines.filter(({ level }) => level === "warn")).toHaveLength(1);
});
