import { expect, test } from "vitest";
import { readConfig } from "#config/read-config.ts";
import { github } from "#github/platform.ts";
import { greeting } from "#process/greeting.ts";
import { slack } from "#slack/platform.ts";

function greetingOf(env: Record<string, string>, held?: ReadonlyMap<string, number>): string {
  const reading = readConfig(env, () => null, [slack, github]);
  if (!reading.ok) throw new Error(reading.problems.join("\n"));
  return greeting(reading.config, { url: "http://127.0.0.1:3000", ...(held && { held }) });
}

test("with nothing set up, it names the sandbox and the variables to set", () => {
  const text = greetingOf({});
  expect(text).toContain("try the bot at http://127.0.0.1:3000/sandbox");
  for (const name of [
    "SLACK_BOT_TOKEN",
    "SLACK_APP_TOKEN",
    "GITHUB_TOKEN",
    "AGENT_COMMAND",
    "AGENT_API_KEY",
  ]) {
    expect(text).toContain(name);
  }
});

test("it shows the addresses to enter at each platform that is set up, and no secrets", () => {
  const text = greetingOf({
    PUBLIC_URL: "https://agents.example.com",
    SLACK_BOT_TOKEN: "xoxb-hidden",
    SLACK_SIGNING_SECRET: "hidden",
    GITHUB_TOKEN: "hidden",
    GITHUB_WEBHOOK_SECRET: "hidden",
    AGENT_COMMAND: "agent --key hidden",
  });
  expect(text).toContain("https://agents.example.com/slack/events");
  expect(text).toContain("https://agents.example.com/github/webhooks");
  expect(text).toContain("AGENT_COMMAND");
  expect(text).not.toMatch(/hidden|sandbox/);
});

test("Socket Mode needs no address, and a remote service is named", () => {
  const text = greetingOf({
    SLACK_BOT_TOKEN: "xoxb-1",
    SLACK_APP_TOKEN: "xapp-1",
    AGENT_API_BASE_URL: "https://runs.example.com/api/v1",
    AGENT_API_KEY: "key",
  });
  expect(text).toContain("Socket Mode");
  expect(text).not.toContain("/slack/events");
  expect(text).toContain("https://runs.example.com/api/v1");
});

test("a platform that is not set up is named with what waits for it", () => {
  const env = { SLACK_BOT_TOKEN: "xoxb-1", SLACK_APP_TOKEN: "xapp-1" };
  expect(greetingOf(env, new Map([["github", 4]]))).toMatch(
    /GitHub +not connected; .+; 4 updates wait for it/,
  );
  expect(greetingOf(env, new Map([["github", 1]]))).toContain("1 update waits for it");
  expect(greetingOf(env)).not.toContain("wait");
});
