import { expect, test } from "vitest";
import { readConfig } from "#config/read-config.ts";
import { github } from "#github/platform.ts";
import { slack } from "#slack/platform.ts";

const platforms = [slack, github];
const read = (yaml: string) =>
  readConfig({}, (path) => (path === "agent-runs-bot.yaml" ? yaml : null), platforms);

function rules(yaml: string) {
  const reading = read(yaml);
  if (!reading.ok) throw new Error(reading.problems.join("\n"));
  return reading.config.rules;
}

function settling(yaml: string) {
  const reading = read(yaml);
  if (!reading.ok) throw new Error(reading.problems.join("\n"));
  return reading.config.settlingMs;
}

function problems(yaml: string): readonly string[] {
  const reading = read(yaml);
  if (reading.ok) throw new Error("no problem was found");
  return reading.problems;
}

test("every key of the file becomes a rule", () => {
  const yaml = `
defaults: { model: fast, environment: env-1, base_prompt: Be brief., mcp: [tracker] }
channels:
  C0123ABC: { skill: "octo/skills:review" }
  T1:C0456DEF: { model: slow }
repositories:
  Octo/App: { factory: fixers }
labels:
  agent:
  agent-slow: { model: slow }
mcp_servers:
  tracker: { url: "https://mcp.example.com" }
permissions:
  slack: { people: [U0123ABC], channels: [C0123ABC] }
  github: { people: [octocat], repositories: [Octo/App] }
replies: mention
limits: { retry_for_hours: 1 }
`;
  expect(rules(yaml)).toEqual({
    runName: "agent-runs-bot",
    defaults: { model: "fast", environment: "env-1", basePrompt: "Be brief.", mcp: ["tracker"] },
    scopes: {
      "slack:C0123ABC": { skill: "octo/skills:review" },
      "slack:T1:C0456DEF": { model: "slow" },
      "github:octo/app": { factory: "fixers" },
    },
    labels: { agent: {}, "agent-slow": { model: "slow" } },
    mcpServers: { tracker: { url: "https://mcp.example.com" } },
    replies: "mention",
    allow: {
      slack: { people: ["U0123ABC"], scopes: ["slack:C0123ABC"] },
      github: { people: ["octocat"], scopes: ["github:octo/app"] },
    },
    retryForMs: 3_600_000,
    platforms: { slack: slack.facts, github: github.facts },
  });
});

test("settling times are read in seconds, for the API and each platform", () => {
  expect(settling("limits: { settling_seconds: { api: 120, slack: 0.5, github: 0 } }")).toEqual({
    api: 120_000,
    slack: 500,
    github: 0,
  });
  expect(settling("limits: { settling_seconds: { github: 3600 } }")).toEqual({ github: 3_600_000 });
});

test.each(["", "limits:", "limits: { settling_seconds: }", "limits: { retry_for_hours: 1 }"])(
  "a file with %j leaves every settling time to its system",
  (yaml) => {
    expect(settling(yaml)).toEqual({});
  },
);

test.each(["agent:done", "Agent:Queued"])("%s, which shows a run's state, can't start runs", (label) => {
  expect(problems(`labels: { "${label}": }`)).toEqual([
    `agent-runs-bot.yaml: labels.${label} is not a valid name; the bot shows a run's state with agent:queued, agent:running, agent:blocked, agent:done, agent:failed: choose another label.`,
  ]);
});

test("an alias without an anchor, and aliases that expand too far, are problems, not exceptions", () => {
  const bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"];
  for (const [one, next] of ["ab", "bc", "cd", "de"])
    bomb.push(`${next}: &${next} [${`*${one},`.repeat(9)}]`);
  for (const yaml of ["defaults: *mine", bomb.join("\n")]) {
    expect(problems(yaml)).toEqual([
      "agent-runs-bot.yaml has an alias (*name) without its anchor, or too many aliases.",
    ]);
  }
});

test.each(["slack: { people: U0123ABC }", "slack: { channels: }", "github: { people: octocat }"])(
  "permissions for %s are refused, since no list was given",
  (given) => {
    expect(problems(`permissions: { ${given} }`)).toEqual([
      expect.stringMatching(/^agent-runs-bot\.yaml: permissions\.\w+\.\w+ must be a list\.$/),
    ]);
  },
);

test.each(["", "# only a comment\n", "defaults:\nchannels:\nlabels:\npermissions:\n  slack:\nlimits:\n"])(
  "a file without values, %j, is the same as none",
  (yaml) => {
    expect(rules(yaml)).toEqual(rules(""));
    expect(rules(yaml).labels).toEqual({ agent: {} });
  },
);

test("a list that allows nobody is not the same as no list", () => {
  expect(rules("permissions: { slack: { people: [] } }").allow).toEqual({ slack: { people: [] } });
});

test.each([
  [
    "chanels: {}",
    "chanels is not known; known here: defaults, channels, repositories, labels, mcp_servers, permissions, replies, limits, service.",
  ],
  [
    "defaults: { modle: x }",
    "defaults.modle is not known; known here: model, environment, skill, factory, base_prompt, mcp.",
  ],
  [
    "channels: { C0123ABC: { modle: x } }",
    "channels.C0123ABC.modle is not known; known here: model, environment, skill, factory, base_prompt, mcp.",
  ],
  [
    "permissions: { slack: { users: [] } }",
    "permissions.slack.users is not known; known here: people, channels.",
  ],
  [
    "channels: { '#general': {} }",
    "channels.#general is not a valid name; write the channel's id, such as C0123ABCD, found at the end of the channel's details.",
  ],
  ["repositories: { app: {} }", "repositories.app is not a valid name; write the repository as owner/name."],
  [
    "permissions: { slack: { people: [ann] } }",
    "permissions.slack.people.0 write the member id, such as U0123ABCD, found in the person's profile.",
  ],
  [
    "permissions: { github: { people: ['@ann'] } }",
    "permissions.github.people.0 write the GitHub login, without @.",
  ],
  ["defaults: { model: 4 }", "defaults.model must be a text."],
  ["defaults: { mcp: tracker }", "defaults.mcp must be a list."],
  ["labels: [agent]", "labels must be a mapping."],
  ["replies: some", "replies must be all or mention."],
  ["limits: { retry_for_hours: 0 }", "limits.retry_for_hours must be above 0."],
  [
    "limits: { settle_seconds: {} }",
    "limits.settle_seconds is not known; known here: retry_for_hours, catch_up_days, settling_seconds, paced.",
  ],
  [
    "limits: { settling_seconds: { jira: 5 } }",
    "limits.settling_seconds.jira is not known; known here: api, slack, github.",
  ],
  ["limits: { settling_seconds: 60 }", "limits.settling_seconds must be a mapping."],
  ["limits: { settling_seconds: { api: 1m } }", "limits.settling_seconds.api must be a number."],
  ["limits: { settling_seconds: { api: } }", "limits.settling_seconds.api must be a number."],
  ["limits: { settling_seconds: { slack: -1 } }", "limits.settling_seconds.slack must be 0 or more."],
  ["limits: { settling_seconds: { github: 3601 } }", "limits.settling_seconds.github must be 3600 at most."],
  ["limits: { settling_seconds: { api: .inf } }", "limits.settling_seconds.api must be a number."],
  ["limits: { paced: 2 }", "limits.paced must be true or false."],
  ["limits: { catch_up_days: 91 }", "limits.catch_up_days must be 90 at most."],
  ["- a", "the whole must be a mapping."],
  ["defaults: { mcp: [gone] }", "mcp names gone, which is not under mcp_servers (empty)."],
])("%s is reported", (yaml, sentence) => {
  expect(problems(yaml)).toEqual([`agent-runs-bot.yaml: ${sentence}`]);
});

test("text that is not YAML is reported with its line, and not repeated", () => {
  const told = problems("defaults:\n  model: 'secret-1\nlabels: [\n");
  expect(told[0]).toMatch(/^agent-runs-bot\.yaml, line \d, is not valid YAML \(\w[\w ]+\)\.$/);
  expect(told.join()).not.toContain("secret-1");
});

test("a file that was chosen must exist and be readable", () => {
  expect(readConfig({ CONFIG_FILE: "mine.yaml" }, () => null, platforms)).toMatchObject({
    problems: ["CONFIG_FILE names mine.yaml, which does not exist: correct the path, or unset it."],
  });
  const deny = () => {
    throw new Error("EACCES");
  };
  const denied = readConfig({ CONFIG_FILE: "mine.yaml" }, deny, platforms);
  expect(denied).toMatchObject({
    problems: ["CONFIG_FILE can't be read: check that mine.yaml is a file and who may read it."],
  });
});

test("a chosen file is used instead of the default one", () => {
  const reading = readConfig(
    { CONFIG_FILE: "mine.yaml" },
    (path) => `replies: ${path === "mine.yaml" ? "mention" : "all"}`,
    platforms,
  );
  expect(reading).toMatchObject({ config: { rules: { replies: "mention" } } });
});
