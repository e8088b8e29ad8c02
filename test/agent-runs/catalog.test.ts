import { expect, test } from "vitest";
import { problem, rejection, startLocalApi } from "#test/support/agent-runs/local-api.ts";

const environments = {
  environments: [
    {
      uid: "env-1",
      config: {
        name: "Backend",
        description: null,
        docker_image: "node:26",
        github_repos: [{ owner: "acme", repo: "app", default_branch: "main" }],
        setup_commands: ["npm ci"],
      },
      last_updated: "2026-01-01T00:00:00Z",
      last_task_run_timestamp: null,
      last_task_created: { id: "run-1", title: "Fix", state: "THINKING", created_at: "2026-01-01T00:00:00Z" },
      setup_failed: false,
      scope: { type: "Team", uid: "t-1" },
      creator: { type: "user", uid: "u-1", display_name: "Ann" },
      mood: "good",
    },
  ],
};
const models = {
  default_model_id: "m-1",
  models: [
    { id: "m-1", display_name: "Model one", provider: "OPENAI", vision_supported: true },
    { id: "m-2", display_name: "Model two", provider: "SOMEBODY_NEW", disable_reason: "ADMIN_DISABLED" },
  ],
};
const skills = {
  agents: [
    {
      name: "deploy",
      variants: [
        {
          id: "acme/app:.claude/skills/deploy/SKILL.md",
          description: "Deploys.",
          base_prompt: "Deploy it.",
          source: { owner: "acme", name: "app", skill_path: ".claude/skills/deploy/SKILL.md" },
          environments: [{ uid: "env-1", name: "Backend" }],
          last_run_timestamp: null,
        },
      ],
    },
  ],
};

test("environments, models and skills are read completely from their endpoints", async () => {
  await using api = await startLocalApi(({ url }) => {
    if (url.pathname.endsWith("/environments")) return { body: environments };
    return { body: url.pathname.endsWith("/models") ? models : skills };
  });
  const client = api.client();
  expect(await client.environments({ sort_by: "name" })).toEqual(environments);
  expect(await client.models()).toEqual(models);
  expect(await client.skills({ repo: "acme/app", refresh: true, include_malformed_skills: false })).toEqual(
    skills,
  );
  expect(api.seen.map(({ method, url }) => [method, url.pathname, url.search])).toEqual([
    ["GET", "/api/v1/agent/environments", "?sort_by=name"],
    ["GET", "/api/v1/agent/models", ""],
    ["GET", "/api/v1/agent", "?repo=acme%2Fapp&refresh=true&include_malformed_skills=false"],
  ]);
});

test("the catalogue's ids can be found by name", async () => {
  await using api = await startLocalApi(({ url }) =>
    url.pathname.endsWith("/models") ? { body: models } : { body: environments },
  );
  const { models: all, default_model_id } = await api.client().models();
  expect(all.find(({ id }) => id === default_model_id)?.display_name).toBe("Model one");
  const [environment] = (await api.client().environments()).environments;
  expect([environment?.uid, environment?.config.name]).toEqual(["env-1", "Backend"]);
});

test("an unexpected field of a catalogue spoils nothing else, and null is an empty list", async () => {
  await using api = await startLocalApi(({ url }) => {
    if (url.pathname.endsWith("/environments")) return { body: { environments: null } };
    if (url.pathname.endsWith("/models")) return { body: { models: [{ id: "m-1", provider: { a: 1 } }] } };
    return { body: { agents: [{ name: "deploy", variants: [{ id: "a/b:c", source: "acme" }] }] } };
  });
  const client = api.client();
  expect(await client.environments()).toEqual({ environments: [] });
  expect(await client.models()).toEqual({ models: [{ id: "m-1" }] });
  expect((await client.skills()).agents[0]?.variants).toMatchObject([{ id: "a/b:c", description: "" }]);
});

test.each([
  ["environments", { environments: [{ config: {} }] }, "environments.0.uid"],
  ["models", { models: [{ id: "" }] }, "models.0.id"],
  ["skills", { agents: [{ variants: [] }] }, "agents.0.name"],
] as const)("%s without their ids are an error that names the field", async (which, body, field) => {
  await using api = await startLocalApi(() => ({ body }));
  expect(await rejection(api.client()[which]())).toMatchObject({
    name: "ResponseSchemaError",
    fields: [field],
  });
});

test("catalogues are retried and refused like other reads", async () => {
  let asked = 0;
  await using api = await startLocalApi(() => {
    asked += 1;
    return asked === 1 ? { status: 503 } : problem("not_authorized", 403);
  });
  expect(await rejection(api.client().models())).toMatchObject({
    name: "PermissionDeniedError",
    certainty: "refused",
  });
  expect(api.seen).toHaveLength(2);
});
