import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { readConfig, secretsOf } from "#config/read-config.ts";
import { readStandaloneConfig, standaloneSecrets } from "#config/standalone.ts";
import { github } from "#github/platform.ts";
import { slack } from "#slack/platform.ts";

const platforms = [slack, github];

const readFile = (yaml: string) => (path: string) => {
  if (path === resolve("skills/review/SKILL.md")) return "Review the change.";
  return path === "agent-runs-bot.yaml" ? yaml : null;
};

function embedded(yaml: string) {
  const reading = readConfig({}, readFile(yaml), platforms);
  if (!reading.ok) throw new Error(reading.problems.join("\n"));
  const { api } = reading.config;
  if (api.kind !== "embedded") throw new Error("the service is not embedded");
  return { ...api.offer, secrets: secretsOf(reading.config) };
}

function problems(yaml: string): readonly string[] {
  const reading = readConfig({}, readFile(yaml), platforms);
  if (reading.ok) throw new Error("no problem was found");
  return reading.problems;
}

const whole = `
service:
  environments:
    app:
      repository: https://user:pass-of-the-repository@git.example.com/octo/app.git
      branch: main
      setup: [npm ci, npm run build]
      command: claude
      variables: { API_TOKEN: token-of-the-app, SHORT: x }
      description: The app
    empty:
  models:
    fast: { name: Fast one, provider: OPENAI, vision: true }
    slow:
  default_model: slow
  skills:
    octo/app:review: { file: skills/review/SKILL.md, description: Reviews }
  factories:
    The Fixers:
      aliases: [fix]
      description: Fixes things
      base_prompt: Fix it.
      command: codex
      environment: app
      model: fast
      skill: octo/app:review
    writers: { uid: w-1 }
  session_links: steer
  max_queued: 20
  keep_worktrees_days: 2
  keep_files_days: 3
`;

test("every key of the section sets its own field", () => {
  const { catalog, sessionLinks, bounds } = embedded(whole);
  expect(sessionLinks).toBe("steer");
  expect(bounds).toEqual({ maxQueued: 20, keepWorktreesMs: 172_800_000, keepFilesMs: 259_200_000 });
  expect(catalog).toEqual({
    environments: [
      {
        id: "app",
        description: "The app",
        repository: "https://user:pass-of-the-repository@git.example.com/octo/app.git",
        branch: "main",
        setup: ["npm ci", "npm run build"],
        command: "claude",
        variables: { API_TOKEN: "token-of-the-app", SHORT: "x" },
      },
      {
        id: "empty",
        description: null,
        repository: null,
        branch: null,
        setup: [],
        command: null,
        variables: {},
      },
    ],
    defaultModelId: "slow",
    models: [
      { id: "fast", name: "Fast one", provider: "OPENAI", vision: true },
      { id: "slow", name: "slow", provider: "UNKNOWN", vision: false },
    ],
    skills: [{ spec: "octo/app:review", description: "Reviews", file: resolve("skills/review/SKILL.md") }],
    factories: [
      {
        uid: "the-fixers",
        name: "The Fixers",
        aliases: ["fix"],
        description: "Fixes things",
        basePrompt: "Fix it.",
        environmentId: "app",
        modelId: "fast",
        skill: "octo/app:review",
        command: "codex",
      },
      {
        uid: "w-1",
        name: "writers",
        aliases: [],
        description: null,
        basePrompt: null,
        environmentId: null,
        modelId: null,
        skill: null,
        command: null,
      },
    ],
  });
});

test("models can be a list, whose first is the default", () => {
  expect(embedded("service: { models: [fast, slow] }").catalog).toMatchObject({
    defaultModelId: "fast",
    models: [{ id: "fast" }, { id: "slow" }],
  });
});

test.each(["", "service:", "service: {}", "service: { environments: , models: , factories: }"])(
  "%j offers nothing",
  (yaml) => {
    const { catalog, sessionLinks } = embedded(yaml);
    expect(catalog).toEqual({
      environments: [],
      defaultModelId: null,
      models: [],
      skills: [],
      factories: [],
    });
    expect(sessionLinks).toBeNull();
  },
);

test.each([
  [
    "{ environment: {} }",
    "environment is not known; known here: environments, models, default_model, skills, factories, session_links, max_queued, keep_worktrees_days, keep_files_days.",
  ],
  [
    "{ environments: { app: { repo: x } } }",
    "environments.app.repo is not known; known here: repository, branch, setup, command, variables, description.",
  ],
  [
    "{ environments: { app: { variables: { A-B: x } } } }",
    "environments.app.variables.A-B is not a valid name; a variable has letters, digits and _, and begins with no digit.",
  ],
  [
    "{ environments: { app: { variables: { A: 7 } } } }",
    "environments.app.variables.A must be a text; put numbers and the like in quotes.",
  ],
  ["{ environments: { app: { setup: npm ci } } }", "environments.app.setup must be a list."],
  ["{ environments: { app: { repository: '' } } }", "environments.app.repository must not be empty."],
  ["{ models: fast }", "models must be a mapping."],
  [
    "{ models: [fast, { id: slow }] }",
    "models.1 must be a text, the model's id; for a name and a provider write a mapping of ids.",
  ],
  ["{ models: [fast], default_model: slow }", "default_model is not under service.models (fast)."],
  ["{ default_model: slow }", "default_model is not under service.models (empty)."],
  [
    "{ skills: { review: { file: x } } }",
    "skills.review is not a valid name; write the skill as owner/repo:name.",
  ],
  ["{ skills: { octo/app:review: } }", "skills.octo/app:review.file must be a text."],
  [
    "{ environments: { app: }, factories: { a: { environment: secret } } }",
    "factories.a.environment is not under service.environments (app).",
  ],
  [
    "{ models: [fast], factories: { a: { model: secret } } }",
    "factories.a.model is not under service.models (fast).",
  ],
  ["{ factories: { a: { uid: a/b } } }", "factories.a.uid has letters, digits and - _ . only, 100 at most."],
  [
    "{ factories: { The A: , the-a: } }",
    "factories.the-a has the uid of another factory: give it one of its own.",
  ],
  ["{ factories: { '!': } }", "factories.! needs a uid, since its name has no letter of a-z."],
  ["{ session_links: write }", "session_links must be read or steer."],
  ["{ max_queued: 0 }", "max_queued must be 1 at least."],
  ["{ max_queued: 1.5 }", "max_queued must be a whole number."],
  ["{ keep_worktrees_days: 0 }", "keep_worktrees_days must be above 0."],
  ["{ keep_files_days: -1 }", "keep_files_days must be above 0."],
  ["{ keep_worktrees_days: long }", "keep_worktrees_days must be a number."],
])("service: %s is reported", (section, sentence) => {
  expect(problems(`service: ${section}`)).toEqual([`agent-runs-bot.yaml: service.${sentence}`]);
});

test.each([
  [
    "defaults: { environment: gone }",
    "environment names gone, which is not under service.environments (app).",
  ],
  ["channels: { C0123ABC: { model: gone } }", "model names gone, which is not under service.models (fast)."],
  [
    "labels: { agent: { factory: gone } }",
    "factory names gone, which is not under service.factories (Fixers).",
  ],
])("%s is reported, since the service would refuse every run with it", (rule, sentence) => {
  const offer =
    "service: { environments: { app: }, models: [fast], factories: { Fixers: { aliases: [fix] } } }";
  expect(problems(`${rule}\n${offer}`)).toEqual([`agent-runs-bot.yaml: ${sentence}`]);
  expect(embedded(`defaults: { environment: app, model: fast, factory: FIX }\n${offer}`)).toBeDefined();
  expect(embedded(rule)).toBeDefined();
  const hosted = { AGENT_API_KEY: "key", AGENT_API_BASE_URL: "https://api.example.com/api/v1" };
  expect(readConfig(hosted, readFile(`${rule}\n${offer}`), platforms).ok).toBe(true);
});

test("where no environment and no model is declared, a factory can name any", () => {
  expect(
    embedded("service: { factories: { a: { environment: e, model: m } } }").catalog.factories,
  ).toMatchObject([{ environmentId: "e", modelId: "m" }]);
});

test("an environment's variables and a repository's password are secrets", () => {
  const { secrets } = embedded(whole);
  expect(secrets.sort()).toEqual(["pass-of-the-repository", "token-of-the-app"]);
});

test("with another API the section has no effect, and a warning says so", () => {
  const hosted = { AGENT_API_KEY: "key", AGENT_API_BASE_URL: "https://api.example.com/api/v1" };
  const sentence = "agent-runs-bot.yaml: service has no effect while AGENT_API_KEY is set.";
  expect(readConfig(hosted, readFile(whole), platforms).warnings).toEqual([sentence]);
  expect(readConfig(hosted, readFile("replies: all"), platforms).warnings).toEqual([]);
});

function standalone(env: Record<string, string>, yaml = "") {
  const reading = readStandaloneConfig(env, readFile(yaml));
  if (!reading.ok) throw new Error(reading.problems.join("\n"));
  return reading.config;
}

test("the service alone needs no setting, and reads its own", () => {
  expect(standalone({})).toEqual({
    host: "127.0.0.1",
    port: 3000,
    publicUrl: null,
    dataDir: "./data",
    apiKey: null,
    command: null,
    workDir: "data/work",
    maxRuns: 4,
    timeoutMs: 3_600_000,
    offer: { catalog: embedded("").catalog, sessionLinks: null, bounds: {} },
    logLevel: "info",
  } satisfies Record<keyof ReturnType<typeof standalone>, unknown>);
  const config = standalone(
    { HOST: "0.0.0.0", PORT: "1", PUBLIC_URL: "https://a.example/", AGENT_API_KEY: "key-of-the-service" },
    whole,
  );
  expect(config).toMatchObject({
    host: "0.0.0.0",
    port: 1,
    publicUrl: "https://a.example",
    apiKey: "key-of-the-service",
  });
  expect(config.offer.catalog.models).toHaveLength(2);
  expect(standaloneSecrets(config)).toContain("key-of-the-service");
  expect(standaloneSecrets(config)).toContain("token-of-the-app");
});

test("problems of the bot's own settings don't concern the service alone", () => {
  expect(standalone({ SLACK_BOT_TOKEN: "wrong", POLL_INTERVAL: "often", AGENT_API_BASE_URL: "x" }).port).toBe(
    3000,
  );
});

test("the service alone warns of a misspelled variable, and not of the bot's", () => {
  const env = { AGENT_COMAND: "claude", SLACK_BOT_TOKEN: "xoxb-1" };
  expect(readStandaloneConfig(env, readFile(""))).toMatchObject({
    ok: true,
    warnings: ["AGENT_COMAND is not a setting. Did you mean AGENT_COMMAND?"],
  });
});

test("every problem of the service's settings is reported at once", () => {
  const reading = readStandaloneConfig(
    { PORT: "high", AGENT_MAX_RUNS: "0" },
    readFile("service: { models: 7 }"),
  );
  expect(reading).toMatchObject({
    ok: false,
    problems: [
      "PORT must be a whole number, 0 to 65535.",
      "AGENT_MAX_RUNS must be a whole number of runs, 1 to 100.",
      "agent-runs-bot.yaml: service.models must be a mapping.",
    ],
  });
});

test("the service alone reads its own section only, and notices when that is misspelled", () => {
  const yaml = "channels: { C0123ABC: {} }\nreplies: some\nservice: { models: [fast] }";
  expect(standalone({}, yaml).offer.catalog.models).toMatchObject([{ id: "fast" }]);
  expect(readStandaloneConfig({}, readFile("servce: {}"))).toMatchObject({
    ok: false,
    problems: ["agent-runs-bot.yaml: servce is not known; the section is called service."],
  });
});

test("a declared skill without its file keeps the bot and the service from starting", () => {
  const yaml = "service: { skills: { 'octo/app:review': { file: skills/revue.md } } }";
  const told = [
    `agent-runs-bot.yaml: service.skills.octo/app:review.file names ${resolve("skills/revue.md")}, where no file can be read.`,
  ];
  expect(readConfig({}, readFile(yaml), platforms)).toMatchObject({ ok: false, problems: told });
  expect(readStandaloneConfig({}, readFile(yaml))).toMatchObject({ ok: false, problems: told });
});

test("every example of the file in the documentation is valid", () => {
  const docs = readFileSync(join(import.meta.dirname, "../../docs/configuration.md"), "utf8");
  const examples = [...docs.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, yaml = ""]) => yaml);
  expect(examples).toHaveLength(2);
  for (const yaml of examples) expect(readConfig({}, readFile(yaml), platforms)).toMatchObject({ ok: true });
});
