import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import OzAPI from "oz-agent-sdk";
import { expect, test } from "vitest";
import type { Catalog } from "#service/catalog.ts";
import type { ServiceOptions } from "#service/service.ts";
import { eventually } from "#test/support/eventually.ts";
import { apiKey, serving } from "#test/support/service/serving.ts";

/** The service and its official client, without retries. */
async function served(options: Partial<ServiceOptions> = {}) {
  const it = await serving(options);
  const at = (key: string): OzAPI =>
    new OzAPI({ apiKey: key, baseURL: `${it.api.address}/api/v1`, maxRetries: 0 });
  return { ...it, at, client: at(apiKey) };
}

const ended = (client: OzAPI, runId: string) =>
  eventually(`the end of run ${runId}`, async () => {
    const run = await client.agent.runs.retrieve(runId);
    return run.state === "SUCCEEDED" ? run : null;
  });

/** The error of a refused call. */
async function refusal(call: Promise<unknown>): Promise<unknown> {
  try {
    return { answered: await call };
  } catch (error) {
    return error;
  }
}

test("the official client creates a run with every option and fetches it", async () => {
  const { client } = await served({ command: "echo Done, see https://github.com/octo/app/pull/7" });
  const created = await client.agent.run({
    prompt: "Fix the flaky test",
    title: "Flaky test",
    team: true,
    config: {
      name: "nightly",
      model_id: "fast",
      base_prompt: "Be brief.",
      environment_id: "app",
      computer_use_enabled: false,
      worker_host: "here",
      mcp_servers: {
        files: { command: "mcp-files", args: ["--all"], env: { A: "b" } },
        web: { url: "https://mcp.example.com", headers: { X: "y" } },
        shared: { warp_id: "w-1" },
      },
    },
  });
  expect(created).toMatchObject({ state: "QUEUED", run_id: created.task_id });
  const run = await ended(client, created.run_id);
  expect(run).toMatchObject({
    run_id: created.run_id,
    task_id: created.run_id,
    title: "Flaky test",
    prompt: "Fix the flaky test",
    source: "API",
    creator: { type: "service_account", uid: "api-key" },
    agent_config: { name: "nightly", model_id: "fast", mcp_servers: { shared: { warp_id: "w-1" } } },
    artifacts: [{ artifact_type: "PULL_REQUEST", data: { url: "https://github.com/octo/app/pull/7" } }],
  });
  for (const time of [run.created_at, run.updated_at, run.started_at]) {
    expect(new Date(time ?? "").toISOString()).toBe(time);
  }
  expect((await fetch(run.session_link ?? "")).status).toBe(200);
});

test("the official client's images and skill reach the run", async () => {
  const { client, api } = await served({ command: "cat" });
  const png = Buffer.from("not really a picture").toString("base64");
  const { run_id } = await client.agent.run({
    skill: "octo/app:review",
    config: { skill_spec: "octo/app:ignored" },
    images: [{ mime_type: "image/png", data: png }],
  });
  const run = await ended(client, run_id);
  expect(run.agent_config).toMatchObject({ skill_spec: "octo/app:review", name: "review" });
  expect((await api.said(run_id)).join("\n")).toContain("image-1.png");
});

test("the official client lists by each of its filters and pages through while runs are added", async () => {
  const { client } = await served({ demoStepMs: 600_000 });
  for (let i = 0; i < 7; i++) {
    await client.agent.run({
      prompt: `Prompt ${i}`,
      config: { name: i % 2 === 0 ? "even" : "odd", model_id: `m-${i % 3}` },
      ...(i === 3 ? { skill: "octo/app:review" } : {}),
    });
  }
  const found = async (query: Parameters<typeof client.agent.runs.list>[0]): Promise<number[]> =>
    (await client.agent.runs.list(query)).runs.map(({ prompt }) => Number(/\d/.exec(prompt)?.[0])).sort();
  expect(await found({})).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(await found({ name: "odd" })).toEqual([1, 3, 5]);
  expect(await found({ name: "odd", model_id: "m-1" })).toEqual([1]);
  expect(await found({ q: "PROMPT 4" })).toEqual([4]);
  expect(await found({ skill: "octo/app:review" })).toEqual([3]);
  expect(await found({ skill_spec: "octo/app:review" })).toEqual([3]);
  expect(await found({ state: ["QUEUED", "INPROGRESS", "PENDING", "CLAIMED"] })).toHaveLength(7);
  expect(await found({ state: ["SUCCEEDED", "FAILED"] })).toEqual([]);
  expect(await found({ source: "API", creator: "api-key" })).toHaveLength(7);
  expect(await found({ source: "SLACK" })).toEqual([]);
  expect(await found({ created_after: new Date(0).toISOString() })).toHaveLength(7);
  expect(await found({ created_before: new Date(0).toISOString() })).toEqual([]);
  expect(await found({ updated_after: new Date(Date.now() + 60_000).toISOString() })).toEqual([]);

  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.agent.runs.list({ limit: 3, name: "even", ...(cursor ? { cursor } : {}) });
    seen.push(...page.runs.map(({ prompt }) => prompt));
    cursor = page.page_info.next_cursor;
    expect(page.page_info.has_next_page).toBe(cursor !== undefined);
    await client.agent.run({ prompt: "Later", config: { name: "even" } });
  } while (cursor !== undefined);
  expect(seen.sort()).toEqual(["Prompt 0", "Prompt 2", "Prompt 4", "Prompt 6"]);
});

test("the official client cancels a run; its generic calls send follow-ups and read conversations", async () => {
  const { client } = await served({
    command: "cat > given; cat given; grep -q Second given || sleep 60",
  });
  const { run_id } = await client.agent.run({ prompt: "First" });
  await eventually("the run's beginning", async () => {
    const { state } = await client.agent.runs.retrieve(run_id);
    return state === "INPROGRESS" ? state : null;
  });
  expect(await client.agent.runs.cancel(run_id)).toBe(run_id);
  await eventually("the run's cancellation", async () => {
    const { state } = await client.agent.runs.retrieve(run_id);
    return state === "CANCELLED" ? state : null;
  });
  const body = { message: "Second", mode: "normal" };
  expect(await client.post(`/agent/runs/${run_id}/followups`, { body })).toEqual({});
  await ended(client, run_id);
  const said = JSON.stringify(await client.get(`/agent/runs/${run_id}/conversation`));
  expect(said).toContain("First");
  expect(said).toContain("Second");
});

const catalog: Catalog = {
  environments: [
    {
      id: "app",
      description: "The app",
      repository: "https://user:password@git.example.com/octo/app.git",
      branch: null,
      setup: ["npm ci"],
      command: "cat",
      variables: { TOKEN: "token-of-the-app" },
    },
  ],
  defaultModelId: "fast",
  models: [{ id: "fast", name: "Fast one", provider: "OPENAI", vision: true }],
  skills: [{ spec: "octo/app:review", description: "Reviews", file: import.meta.filename }],
  factories: [],
};

test("the official client lists skills; its generic calls list environments and models", async () => {
  const { client } = await served({ catalog });
  const { agents } = await client.agent.list();
  expect(agents).toMatchObject([
    {
      name: "review",
      variants: [
        {
          id: "octo/app:review",
          description: "Reviews",
          source: { owner: "octo", name: "app", skill_path: "review" },
          environments: [{ uid: "app", name: "app" }],
        },
      ],
    },
  ]);
  expect(
    (await client.agent.list({ repo: "octo/other", sort_by: "last_run", refresh: true })).agents,
  ).toEqual([]);
  expect(await client.get("/agent/models")).toEqual({
    default_model_id: "fast",
    models: [{ id: "fast", display_name: "Fast one", provider: "OPENAI", vision_supported: true }],
  });
  const environments = JSON.stringify(await client.get("/agent/environments"));
  expect(JSON.parse(environments)).toMatchObject({
    environments: [{ uid: "app", config: { name: "app", github_repos: [{ owner: "octo", repo: "app" }] } }],
  });
  expect(environments).not.toMatch(/password|token-of-the-app/);
});

const slowEnvironment = {
  id: "slow",
  description: null,
  repository: null,
  branch: null,
  setup: [],
  command: null,
  variables: {},
};

test("each refusal becomes the official client's own error with the problem document", async () => {
  const { client, at, api, stop } = await served({ command: "cat", catalog });
  const { run_id } = await client.agent.run({ prompt: "x" });
  await ended(client, run_id);
  const told = (code: string) => ({ error: { type: expect.stringMatching(new RegExp(`/${code}$`)) } });

  const unknown = await refusal(client.agent.runs.retrieve("none"));
  expect(unknown).toBeInstanceOf(OzAPI.NotFoundError);
  expect(unknown).toMatchObject({ status: 404, ...told("resource_not_found") });
  const unsigned = await refusal(at("wrong").agent.runs.list());
  expect(unsigned).toBeInstanceOf(OzAPI.AuthenticationError);
  expect(unsigned).toMatchObject({ status: 401, ...told("authentication_required") });
  const nothing = await refusal(client.agent.run({}));
  expect(nothing).toBeInstanceOf(OzAPI.BadRequestError);
  expect(nothing).toMatchObject({ error: { detail: expect.stringContaining("prompt") } });
  const elsewhere = await refusal(client.agent.run({ prompt: "x", config: { environment_id: "gone" } }));
  expect(elsewhere).toBeInstanceOf(OzAPI.BadRequestError);
  expect(elsewhere).toMatchObject({ error: { detail: expect.stringContaining("config.environment_id") } });
  expect(await refusal(client.agent.runs.list({ cursor: "nonsense" }))).toBeInstanceOf(OzAPI.BadRequestError);
  expect(await refusal(client.agent.runs.cancel(run_id))).toBeInstanceOf(OzAPI.BadRequestError);

  const { run_id: asking } = await client.agent.run({ prompt: "Which one?\nAGENT_BLOCKED" });
  await api.until(asking, "BLOCKED");
  const blocked = await refusal(client.agent.runs.cancel(asking));
  expect(blocked).toBeInstanceOf(OzAPI.BadRequestError);
  expect(blocked).toMatchObject({ status: 400, ...told("invalid_request") });

  await stop();
  expect(await refusal(client.agent.runs.list())).toBeInstanceOf(OzAPI.APIConnectionError);
});

test("the official client retries only where a retry can help", async () => {
  const setup = ["while [ ! -e ../../ready ]; do sleep 0.05; done"];
  const environments = [{ ...slowEnvironment, setup }];
  const { api, folder } = await served({ command: "cat", catalog: { ...catalog, environments } });
  let asked = 0;
  const counting = (...request: Parameters<typeof fetch>): Promise<Response> => {
    asked++;
    return fetch(...request);
  };
  const patient = new OzAPI({ apiKey, baseURL: `${api.address}/api/v1`, maxRetries: 1, fetch: counting });
  const { run_id } = await patient.agent.run({ prompt: "x", config: { environment_id: "slow" } });
  await api.until(run_id, "PENDING");
  asked = 0;
  const preparing = await refusal(patient.agent.runs.cancel(run_id));
  expect(preparing).toBeInstanceOf(OzAPI.ConflictError);
  expect(preparing).toMatchObject({ status: 409, error: { retryable: true } });
  expect(asked).toBe(2);
  await writeFile(join(folder, "ready"), "");
  await api.until(run_id, "SUCCEEDED");
  asked = 0;
  expect(await refusal(patient.agent.runs.cancel(run_id))).toBeInstanceOf(OzAPI.BadRequestError);
  expect(asked).toBe(1);
});

test("the official client retries while the service is unavailable", async () => {
  const { service, client } = await served();
  await service.stop();
  const error = await refusal(client.agent.runs.list());
  expect(error).toBeInstanceOf(OzAPI.RateLimitError);
  expect(error).toMatchObject({ error: { retryable: true } });
});
