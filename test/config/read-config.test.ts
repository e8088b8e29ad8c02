import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readConfig, secretsOf } from "#config/read-config.ts";
import { emptyCatalog } from "#service/catalog.ts";

const files: Readonly<Record<string, string>> = {};
const read = (env: Record<string, string>, given = files) => readConfig(env, (path) => given[path] ?? null);

/** The configuration of a sound environment. */
function sound(env: Record<string, string>, given = files) {
  const reading = read(env, given);
  if (!reading.ok) throw new Error(reading.problems.join("\n"));
  return reading.config;
}

/** The problems of a faulty environment. */
function problems(env: Record<string, string>, given = files): readonly string[] {
  const reading = read(env, given);
  if (reading.ok) throw new Error("no problem was found");
  return reading.problems;
}

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
const pkcs8 = privateKey.export({ type: "pkcs8", format: "pem" }).toString();

const slack = { SLACK_BOT_TOKEN: "xoxb-secret-1", SLACK_SIGNING_SECRET: "signing-secret-1" };
const github = { GITHUB_TOKEN: "ghp_secret1", GITHUB_WEBHOOK_SECRET: "hook-secret-1" };

test("an empty environment is a valid one, with every default", () => {
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
    slack: null,
    github: null,
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
    },
  });
});

test("an empty or blank value counts as unset", () => {
  expect(sound({ PORT: "", HOST: "  ", SLACK_BOT_TOKEN: "", DATABASE_URL: "" })).toEqual(sound({}));
});

test("every variable arrives in its own place", () => {
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
    SLACK_API_URL: "http://127.0.0.1:1/api",
    GITHUB_API_URL: "https://github.example.com/api/v3/",
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
    slack: {
      botToken: "xoxb-secret-1",
      receive: { kind: "http", signingSecret: "signing-secret-1" },
      apiUrl: "http://127.0.0.1:1/api/",
    },
    github: {
      webhookSecret: "hook-secret-1",
      credentials: { kind: "token", token: "ghp_secret1" },
      apiUrl: "https://github.example.com/api/v3",
    },
    pollIntervalMs: 500,
    logLevel: "debug",
    rules: { runName: "team-bot" },
  });
});

test("everything that is wrong is told at once", () => {
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

  test("a level that the log doesn't have is answered with those it has", () => {
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
  ])("%s=%s leaves no room for a path", (name, value) => {
    expect(
      problems({ AGENT_API_KEY: "k", AGENT_API_BASE_URL: "https://a.example/api/v1", [name]: value }),
    ).toEqual([`${name} must be a plain address, without credentials, ? and #.`]);
  });

  test("GitHub's pages are not its API", () => {
    const token = { GITHUB_TOKEN: "t", GITHUB_WEBHOOK_SECRET: "s" };
    expect(problems({ ...token, GITHUB_API_URL: "https://github.com" })).toEqual([
      "GITHUB_API_URL leads to GitHub's pages and not to its API: unset it, since github.com is the default.",
    ]);
    expect(sound({ ...token, GITHUB_API_URL: "https://api.github.com/" }).github?.apiUrl).toBe(
      "https://api.github.com",
    );
  });

  test("the sandbox is never shown to the network", () => {
    expect(problems({ HOST: "0.0.0.0" })).toEqual([
      "HOST must be this machine's own 127.0.0.1 while the sandbox is on, since that has no login: set it so, or set up Slack or GitHub.",
    ]);
    expect(sound({ ...slack, HOST: "0.0.0.0" }).host).toBe("0.0.0.0");
    expect(problems({ PUBLIC_URL: "https://agents.example.com" })).toEqual([
      "PUBLIC_URL leads the whole world here, but the sandbox has no login: set up Slack or GitHub, or leave PUBLIC_URL out.",
    ]);
    expect(sound({ PUBLIC_URL: "http://localhost:3000" }).publicUrl).toContain("localhost");
    expect(sound({ HOST: "localhost" }).host).toBe("localhost");
  });

  test("Postgres is for later", () => {
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
  ])("%s is no address for it", (address, sentence) => {
    expect(problems({ AGENT_API_BASE_URL: address, AGENT_API_KEY: "key-secret" })).toEqual([
      `AGENT_API_BASE_URL ${sentence}`,
    ]);
  });

  test("on this machine it may be unencrypted", () => {
    for (const host of ["127.0.0.1:4000", "localhost", "[::1]:4000"]) {
      const AGENT_API_BASE_URL = `http://${host}/api/v1`;
      expect(sound({ AGENT_API_BASE_URL, AGENT_API_KEY: "k" }).api).toMatchObject({ kind: "remote" });
    }
  });

  test("a key that can't be one is told before it is sent", () => {
    expect(problems({ AGENT_API_BASE_URL: base, AGENT_API_KEY: "key with spaces" })).toEqual([
      "AGENT_API_KEY has characters that no API key has: copy it once more.",
    ]);
  });

  test("settings of the embedded service are told to have no effect beside it", () => {
    const reading = read({ AGENT_API_BASE_URL: base, AGENT_API_KEY: "k", AGENT_COMMAND: "x" });
    expect(reading.warnings).toEqual(["AGENT_COMMAND has no effect while AGENT_API_KEY is set."]);
  });
});

describe("Slack", () => {
  const where = "https://api.slack.com/apps → your app";

  test("an app token means Socket Mode, also beside a signing secret", () => {
    const receive = { kind: "socket", appToken: "xapp-1" };
    expect(sound({ SLACK_BOT_TOKEN: "xoxb-1", SLACK_APP_TOKEN: "xapp-1" }).slack).toEqual({
      botToken: "xoxb-1",
      receive,
    });
    expect(sound({ ...slack, SLACK_APP_TOKEN: "xapp-1" }).slack?.receive).toEqual(receive);
  });

  test("a bot token alone can't hear anything", () => {
    expect(problems({ SLACK_BOT_TOKEN: "xoxb-1" })).toEqual([
      `SLACK_SIGNING_SECRET is missing: copy it from ${where} → Basic Information → App Credentials, or set SLACK_APP_TOKEN for Socket Mode.`,
    ]);
  });

  test.each([
    ["SLACK_SIGNING_SECRET", "s"],
    ["SLACK_APP_TOKEN", "xapp-1"],
  ])("%s alone can't say anything", (name, value) => {
    expect(problems({ [name]: value })).toEqual([
      `SLACK_BOT_TOKEN is missing: copy it from ${where} → OAuth & Permissions → Bot User OAuth Token (xoxb-…).`,
    ]);
  });

  test("tokens in each other's place are recognised", () => {
    expect(problems({ SLACK_BOT_TOKEN: "xapp-1", SLACK_APP_TOKEN: "xoxb-1" })).toEqual([
      `SLACK_BOT_TOKEN holds what belongs into SLACK_APP_TOKEN: copy the Bot User OAuth Token (xoxb-…) from ${where} → OAuth & Permissions.`,
      `SLACK_APP_TOKEN holds what belongs into SLACK_BOT_TOKEN: copy the App-Level Token (xapp-…, scope connections:write) from ${where} → Basic Information → App-Level Tokens.`,
    ]);
  });

  test("a token that is neither, and a token for a signing secret, are recognised", () => {
    expect(problems({ SLACK_BOT_TOKEN: "xoxp-1", SLACK_SIGNING_SECRET: "xoxb-1" })).toEqual([
      `SLACK_BOT_TOKEN does not begin with xoxb-: copy the Bot User OAuth Token (xoxb-…) from ${where} → OAuth & Permissions.`,
      `SLACK_SIGNING_SECRET holds a token: copy the Signing Secret from ${where} → Basic Information → App Credentials.`,
    ]);
  });

  test("its API's address ends in /api/", () => {
    expect(problems({ ...slack, SLACK_API_URL: "http://127.0.0.1:1/" })).toEqual([
      "SLACK_API_URL must end in /api/.",
    ]);
  });
});

describe("GitHub", () => {
  const app = "https://github.com/settings/apps → your app";

  test("an app's key is given as text, as one line, or as a path", () => {
    const env = { GITHUB_APP_ID: "12", GITHUB_WEBHOOK_SECRET: "hook" };
    const credentials = { kind: "app", appId: "12", privateKey: pkcs8 };
    for (const GITHUB_PRIVATE_KEY of [pem, pem.replaceAll("\n", "\\n"), "app.pem"]) {
      const config = sound({ ...env, GITHUB_PRIVATE_KEY }, { "app.pem": pem });
      expect(config.github).toEqual({ webhookSecret: "hook", credentials });
    }
  });

  test("a credential without a webhook secret can't hear anything", () => {
    expect(problems({ GITHUB_TOKEN: "t" })).toEqual([
      "GITHUB_WEBHOOK_SECRET is missing: choose a long random text and enter it here and at your repository → Settings → Webhooks.",
    ]);
    expect(problems({ GITHUB_APP_ID: "12", GITHUB_PRIVATE_KEY: pem })).toEqual([
      `GITHUB_WEBHOOK_SECRET is missing: choose a long random text and enter it here and at ${app} → Webhook.`,
    ]);
  });

  test("a webhook secret alone can't say anything", () => {
    expect(problems({ GITHUB_WEBHOOK_SECRET: "hook" })).toEqual([
      "GITHUB_TOKEN is missing: make one at https://github.com/settings/personal-access-tokens, or set GITHUB_APP_ID and GITHUB_PRIVATE_KEY.",
    ]);
  });

  test("half a GitHub App, and an App beside a token, are problems", () => {
    expect(problems({ ...github, GITHUB_APP_ID: "12" })).toEqual([
      "GITHUB_TOKEN is set beside a GitHub App: unset it, or GITHUB_APP_ID and GITHUB_PRIVATE_KEY.",
      `GITHUB_PRIVATE_KEY is missing: generate a key at ${app} → Private keys, and give its path.`,
    ]);
    expect(problems({ GITHUB_WEBHOOK_SECRET: "hook", GITHUB_PRIVATE_KEY: pem })).toEqual([
      `GITHUB_APP_ID is missing: copy the App ID from ${app} → About.`,
    ]);
  });

  test.each([
    ["gone.pem", "is neither a private key in PEM form nor the path of a file that exists."],
    [
      "-----BEGIN RSA PRIVATE KEY-----",
      `is not a whole private key in PEM form: use the .pem file from ${app}.`,
    ],
  ])("%s is no key", (GITHUB_PRIVATE_KEY, sentence) => {
    const env = { GITHUB_APP_ID: "12", GITHUB_WEBHOOK_SECRET: "hook", GITHUB_PRIVATE_KEY };
    expect(problems(env)).toEqual([`GITHUB_PRIVATE_KEY ${sentence}`]);
  });

  test("a webhook secret may be two while it is changed, and both are kept out of the log", () => {
    const config = sound({ GITHUB_TOKEN: "token-1", GITHUB_WEBHOOK_SECRET: "old-secret, new-secret" });
    expect(secretsOf(config)).toEqual(expect.arrayContaining(["old-secret", "new-secret"]));
    expect(problems({ GITHUB_TOKEN: "token-1", GITHUB_WEBHOOK_SECRET: " , " })).toEqual([
      "GITHUB_WEBHOOK_SECRET is nothing but commas.",
    ]);
  });

  test("a name is no App ID, and a key is no token", () => {
    expect(
      problems({ GITHUB_APP_ID: "my app", GITHUB_PRIVATE_KEY: pem, GITHUB_WEBHOOK_SECRET: "h" }),
    ).toEqual([`GITHUB_APP_ID must be the App ID, a number: copy it from ${app} → About.`]);
    expect(problems({ GITHUB_TOKEN: pem, GITHUB_WEBHOOK_SECRET: "h" })).toEqual([
      "GITHUB_TOKEN holds what belongs into GITHUB_PRIVATE_KEY.",
    ]);
  });

  test("what a workflow or a codespace sets by itself asks for nothing", () => {
    const ambient = { GITHUB_TOKEN: "t", GITHUB_API_URL: "https://api.github.com" };
    expect(sound({ ...ambient, GITHUB_ACTIONS: "true" }).github).toBeNull();
    expect(sound({ ...ambient, CODESPACES: "true" }).github).toBeNull();
  });
});

describe("misspelled names", () => {
  test("a name that is nearly ours is warned of, whether or not the rest is sound", () => {
    const warning = "SLACK_SIGNING_SECERT means nothing here: is SLACK_SIGNING_SECRET meant?";
    expect(read({ ...slack, SLACK_SIGNING_SECERT: "s" }).warnings).toEqual([warning]);
    expect(read({ SLACK_BOT_TOKEN: "xoxb-1", SLACK_SIGNING_SECERT: "s" }).warnings).toEqual([warning]);
  });

  test("what CI systems set is left alone", () => {
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

  test("all of them are known to whoever must keep them out of the log", () => {
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
