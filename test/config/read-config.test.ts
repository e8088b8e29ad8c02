import { describe, expect, test } from "vitest";
import { readConfig, secretsOf } from "#config/read-config.ts";
import { github as onGitHub } from "#github/platform.ts";
import { emptyCatalog } from "#service/catalog.ts";
import { slack as onSlack } from "#slack/platform.ts";

const files: Readonly<Record<string, string>> = {};
const platforms = [onSlack, onGitHub];
const read = (env: Record<string, string>, given = files) =>
  readConfig(env, (path) => given[path] ?? null, platforms);

/** Returns the configuration of a valid environment. */
function sound(env: Record<string, string>, given = files) {
  const reading = read(env, given);
  if (!reading.ok) throw new Error(reading.problems.join("\n"));
  return reading.config;
}

/** Returns the problems of an invalid environment. */
function problems(env: Record<string, string>, given = files): readonly string[] {
  const reading = read(env, given);
  if (reading.ok) throw new Error("no problem was found");
  return reading.problems;
}

const slack = { SLACK_BOT_TOKEN: "xoxb-secret-1", SLACK_SIGNING_SECRET: "signing-secret-1" };
const github = { GITHUB_TOKEN: "ghp_secret1", GITHUB_WEBHOOK_SECRET: "hook-secret-1" };

test("an empty environment is valid, and sets every default", () => {
  expect(sound({})).toEqual({
    host: "127.0.0.1",
    port: 3000,
    publicUrl: null,
    dataDir: "./data",
    api: {
      kind: "embedded",
      command: null,
      workDir: "data/work",
      maxRuns: 4,
      timeoutMs: 3_600_000,
      offer: { catalog: emptyCatalog, sessionLinks: null, bounds: {} },
    },
    platforms: platforms.map((kind) => ({ kind, settings: null })),
    pollIntervalMs: 2000,
    logLevel: "info",
    rules: {
      runName: "agent-runs-bot",
      defaults: {},
      scopes: {},
      labels: { agent: {} },
      mcpServers: {},
      replies: "all",
      allow: {},
      retryForMs: 86_400_000,
      platforms: { slack: onSlack.facts, github: onGitHub.facts },
    },
    settlingMs: {},
    livelyMs: 604_800_000,
    isPaced: true,
  });
});

test("an empty or blank value counts as unset", () => {
  expect(sound({ PORT: "", HOST: "  ", SLACK_BOT_TOKEN: "", DATABASE_URL: "" })).toEqual(sound({}));
});

test("every variable sets its own field", () => {
  const config = sound({
    ...slack,
    ...github,
    HOST: "0.0.0.0",
    PORT: "0",
    PUBLIC_URL: "https://agents.example.com/",
    DATA_DIR: "/var/lib/bot",
    AGENT_RUN_NAME: "team-bot",
    AGENT_COMMAND: "my-agent --print",
    AGENT_WORK_DIR: "/srv/work",
    AGENT_MAX_RUNS: "2",
    AGENT_TIMEOUT: "60",
    POLL_INTERVAL: "0.5",
    LOG_LEVEL: "debug",
  });
  expect(config).toMatchObject({
    host: "0.0.0.0",
    port: 0,
    publicUrl: "https://agents.example.com",
    dataDir: "/var/lib/bot",
    api: {
      kind: "embedded",
      command: "my-agent --print",
      workDir: "/srv/work",
      maxRuns: 2,
      timeoutMs: 60_000,
    },
    platforms: platforms.map((kind) => ({ kind, settings: { secrets: expect.any(Array) } })),
    pollIntervalMs: 500,
    logLevel: "debug",
    rules: { runName: "team-bot" },
  });
});

test("every problem is reported at once", () => {
  const told = problems({ PORT: "http", SLACK_BOT_TOKEN: "xoxb-1", GITHUB_TOKEN: "t", LOG_LEVEL: "loud" });
  expect(told.map((sentence) => sentence.split(" ")[0])).toEqual([
    "PORT",
    "LOG_LEVEL",
    "SLACK_SIGNING_SECRET",
    "GITHUB_WEBHOOK_SECRET",
  ]);
});

describe("numbers and addresses", () => {
  test.each([
    ["PORT", "65536", "PORT must be a whole number, 0 to 65535."],
    ["PORT", "80x", "PORT must be a whole number, 0 to 65535."],
    ["AGENT_MAX_RUNS", "0", "AGENT_MAX_RUNS must be a whole number of runs, 1 to 100."],
    ["AGENT_TIMEOUT", "86401", "AGENT_TIMEOUT must be a whole number of seconds, 1 to 86400."],
    ["POLL_INTERVAL", "0", "POLL_INTERVAL must be a number of seconds, 0.1 to 3600."],
    ["POLL_INTERVAL", "-1", "POLL_INTERVAL must be a number of seconds, 0.1 to 3600."],
  ])("%s=%s is out of bounds", (name, value, sentence) => {
    expect(problems({ [name]: value })).toEqual([sentence]);
  });

  test("an unknown log level is refused with the known ones", () => {
    expect(problems({ LOG_LEVEL: "loud" })).toEqual([
      "LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent.",
    ]);
  });

  test("PUBLIC_URL must be a web address", () => {
    expect(problems({ PUBLIC_URL: "agents.example.com" })).toEqual([
      "PUBLIC_URL must be the URL under which the world reaches the bot, such as https://agents.example.com.",
    ]);
  });

  test.each([
    ["PUBLIC_URL", "https://agents.example.com/?team=a"],
    ["PUBLIC_URL", "https://user:word@agents.example.com"],
    ["PUBLIC_URL", "https://agents.example.com/#top"],
    ["AGENT_API_BASE_URL", "https://:word@api.example.com/api/v1"],
  ])("%s=%s is refused, since no path can follow it", (name, value) => {
    expect(
      problems({ AGENT_API_KEY: "k", AGENT_API_BASE_URL: "https://a.example/api/v1", [name]: value }),
    ).toEqual([`${name} must be a plain address, without credentials, ? and #.`]);
  });

  test("the sandbox is never reachable from other machines", () => {
    expect(problems({ HOST: "0.0.0.0" })).toEqual([
      "HOST must be 127.0.0.1, this machine's own address, while the sandbox is on, which has no login: set it so, or set up Slack or GitHub.",
    ]);
    expect(sound({ ...slack, HOST: "0.0.0.0" }).host).toBe("0.0.0.0");
    expect(problems({ PUBLIC_URL: "https://agents.example.com" })).toEqual([
      "PUBLIC_URL makes the bot reachable from other machines, but the sandbox has no login: set up Slack or GitHub, or unset PUBLIC_URL.",
    ]);
    expect(sound({ PUBLIC_URL: "http://localhost:3000" }).publicUrl).toContain("localhost");
    expect(sound({ HOST: "localhost" }).host).toBe("localhost");
  });

  test("Postgres is not supported yet", () => {
    expect(problems({ DATABASE_URL: "postgres://u:secret@db/x" })).toEqual([
      "DATABASE_URL is set, but Postgres is not supported yet: unset it, and DATA_DIR holds the bot's data.",
    ]);
  });
});

describe("the Agent Runs API", () => {
  const base = "https://runs.example.com/api/v1";

  test("a key and an address together mean the API, with or without a slash at the end", () => {
    const remote = { kind: "remote", baseUrl: base, apiKey: "key-secret" };
    expect(sound({ AGENT_API_BASE_URL: base, AGENT_API_KEY: "key-secret" }).api).toEqual(remote);
    expect(sound({ AGENT_API_BASE_URL: `${base}/`, AGENT_API_KEY: "key-secret" }).api).toEqual(remote);
  });

  test("one without the other is a problem", () => {
    expect(problems({ AGENT_API_KEY: "key-secret" })).toEqual([
      "AGENT_API_BASE_URL is missing: the URL of the Agent Runs API that AGENT_API_KEY is for.",
    ]);
    expect(problems({ AGENT_API_BASE_URL: base })).toEqual([
      "AGENT_API_KEY is missing: make one in the settings of your Agent Runs service, or unset AGENT_API_BASE_URL to run agents on this machine.",
    ]);
  });

  test.each([
    [
      "http://runs.example.com/api/v1",
      "must begin with https://, since the credentials go there; http:// is for this machine only.",
    ],
    ["https://runs.example.com/api", "must end in /api/v1."],
    ["runs.example.com", "must be a URL that begins with https://."],
    ["https://me:secret@runs.example.com/api/v1", "must be a plain address, without credentials, ? and #."],
    ["https://runs.example.com/api/v1?team=1", "must be a plain address, without credentials, ? and #."],
  ])("%s is not an address of the API", (address, sentence) => {
    expect(problems({ AGENT_API_BASE_URL: address, AGENT_API_KEY: "key-secret" })).toEqual([
      `AGENT_API_BASE_URL ${sentence}`,
    ]);
  });

  test("an address on this machine may be unencrypted", () => {
    for (const host of ["127.0.0.1:4000", "localhost", "[::1]:4000"]) {
      const AGENT_API_BASE_URL = `http://${host}/api/v1`;
      expect(sound({ AGENT_API_BASE_URL, AGENT_API_KEY: "k" }).api).toMatchObject({ kind: "remote" });
    }
  });

  test("a malformed key is refused before it is sent", () => {
    expect(problems({ AGENT_API_BASE_URL: base, AGENT_API_KEY: "key with spaces" })).toEqual([
      "AGENT_API_KEY contains characters that are not valid in an API key: copy it again.",
    ]);
  });

  test("a warning names the settings of the embedded service that have no effect beside it", () => {
    const reading = read({ AGENT_API_BASE_URL: base, AGENT_API_KEY: "k", AGENT_COMMAND: "x" });
    expect(reading.warnings).toEqual(["AGENT_COMMAND has no effect while AGENT_API_KEY is set."]);
  });
});

describe("misspelled names", () => {
  test("a warning names a variable that is nearly one of ours, whether or not the rest is valid", () => {
    const warning = "SLACK_SIGNING_SECERT is not a setting. Did you mean SLACK_SIGNING_SECRET?";
    expect(read({ ...slack, SLACK_SIGNING_SECERT: "s" }).warnings).toEqual([warning]);
    expect(read({ SLACK_BOT_TOKEN: "xoxb-1", SLACK_SIGNING_SECERT: "s" }).warnings).toEqual([warning]);
  });

  test("the variables of CI systems cause no warning", () => {
    const names =
      "ACTION ACTIONS ACTION_PATH ACTION_REF ACTION_REPOSITORY ACTOR ACTOR_ID BASE_REF ENV EVENT_NAME EVENT_PATH GRAPHQL_URL HEAD_REF JOB OUTPUT PATH REF REF_NAME REF_PROTECTED REF_TYPE REPOSITORY REPOSITORY_ID REPOSITORY_OWNER REPOSITORY_OWNER_ID RETENTION_DAYS RUN_ATTEMPT RUN_ID RUN_NUMBER SERVER_URL SHA STATE STEP_SUMMARY TRIGGERING_ACTOR WORKFLOW WORKFLOW_REF WORKFLOW_SHA WORKSPACE";
    const env = Object.fromEntries(names.split(" ").map((name) => [`GITHUB_${name}`, "x"]));
    const agents = ["ID", "NAME", "OS", "VERSION", "JOBNAME", "WORKFOLDER", "TEMPDIRECTORY", "HOMEDIRECTORY"];
    for (const name of agents) env[`AGENT_${name}`] = "x";
    expect(read(env).warnings).toEqual([]);
  });
});

describe("secrets", () => {
  test("no sentence repeats a value", () => {
    const reading = read({
      PORT: "secret-1",
      AGENT_API_BASE_URL: "http://secret-2.example.com",
      SLACK_BOT_TOKEN: "xapp-secret-3",
      SLACK_APP_TOKEN: "xoxb-secret-4",
      GITHUB_APP_ID: "secret-5",
      GITHUB_PRIVATE_KEY: "-----BEGIN secret-6",
      DATABASE_URL: "postgres://secret-7",
      LOG_LEVEL: "secret-8",
      POLL_INTERVAL: "secret-9",
    });
    expect(reading.ok).toBe(false);
    expect(JSON.stringify(reading)).not.toContain("secret-");
  });

  test("the log redacts all of them", () => {
    const yaml =
      "mcp_servers: { tracker: { url: https://mcp.example.com, headers: { Authorization: Bearer-9 } } }";
    const env = {
      ...slack,
      ...github,
      AGENT_API_BASE_URL: "https://x/api/v1",
      AGENT_API_KEY: "key-secret-1",
    };
    expect(secretsOf(sound(env, { "agent-runs-bot.yaml": yaml })).sort()).toEqual(
      [
        "xoxb-secret-1",
        "signing-secret-1",
        "ghp_secret1",
        "hook-secret-1",
        "key-secret-1",
        "Bearer-9",
      ].sort(),
    );
  });
});
