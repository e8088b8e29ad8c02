import { expect, test } from "vitest";
import { readSlackSettings } from "#slack/config.ts";
import { slack } from "#slack/platform.ts";

const http = { SLACK_BOT_TOKEN: "xoxb-secret-1", SLACK_SIGNING_SECRET: "signing-secret-1" };

/** The settings of a valid environment. */
function settings(env: Record<string, string>) {
  const reading = readSlackSettings(env);
  expect(reading.problems).toEqual([]);
  return reading.settings;
}

/** The problems of a faulty environment. */
function problems(env: Record<string, string>): readonly string[] {
  const reading = readSlackSettings(env);
  expect(reading.settings).toBeNull();
  return reading.problems;
}

test("without any variable Slack is not set up", () => {
  expect(settings({ SLACK_BOT_TOKEN: " " })).toBeNull();
});

test("a bot token and a signing secret mean requests over HTTP", () => {
  expect(settings({ ...http, SLACK_API_URL: "http://127.0.0.1:1/api" })).toEqual({
    botToken: "xoxb-secret-1",
    receive: { kind: "http", signingSecret: "signing-secret-1" },
    apiUrl: "http://127.0.0.1:1/api/",
  });
});

test.each([
  [http, ["xoxb-secret-1", "signing-secret-1"]],
  [{ SLACK_BOT_TOKEN: "xoxb-1", SLACK_APP_TOKEN: "xapp-1" }, ["xoxb-1", "xapp-1"]],
])("the credentials are secrets: %j", (env, secrets) => {
  expect(slack.read(env, () => null).settings?.secrets).toEqual(secrets);
});

const where = "https://api.slack.com/apps → your app";

test("an app token means Socket Mode, also beside a signing secret", () => {
  const receive = { kind: "socket", appToken: "xapp-1" };
  expect(settings({ SLACK_BOT_TOKEN: "xoxb-1", SLACK_APP_TOKEN: "xapp-1" })).toEqual({
    botToken: "xoxb-1",
    receive,
  });
  expect(settings({ ...http, SLACK_APP_TOKEN: "xapp-1" })?.receive).toEqual(receive);
});

test("a bot token alone is not enough to receive", () => {
  expect(problems({ SLACK_BOT_TOKEN: "xoxb-1" })).toEqual([
    `SLACK_SIGNING_SECRET is missing: copy it from ${where} → Basic Information → App Credentials, or set SLACK_APP_TOKEN for Socket Mode.`,
  ]);
});

test.each([
  ["SLACK_SIGNING_SECRET", "s"],
  ["SLACK_APP_TOKEN", "xapp-1"],
])("%s alone is not enough to send", (name, value) => {
  expect(problems({ [name]: value })).toEqual([
    `SLACK_BOT_TOKEN is missing: copy it from ${where} → OAuth & Permissions → Bot User OAuth Token (xoxb-…).`,
  ]);
});

test("swapped tokens are recognised", () => {
  expect(problems({ SLACK_BOT_TOKEN: "xapp-1", SLACK_APP_TOKEN: "xoxb-1" })).toEqual([
    `SLACK_BOT_TOKEN holds the value for SLACK_APP_TOKEN: copy the Bot User OAuth Token (xoxb-…) from ${where} → OAuth & Permissions.`,
    `SLACK_APP_TOKEN holds the value for SLACK_BOT_TOKEN: copy the App-Level Token (xapp-…, scope connections:write) from ${where} → Basic Information → App-Level Tokens.`,
  ]);
});

test("a token that is neither, and a token for a signing secret, are recognised", () => {
  expect(problems({ SLACK_BOT_TOKEN: "xoxp-1", SLACK_SIGNING_SECRET: "xoxb-1" })).toEqual([
    `SLACK_BOT_TOKEN does not begin with xoxb-: copy the Bot User OAuth Token (xoxb-…) from ${where} → OAuth & Permissions.`,
    `SLACK_SIGNING_SECRET holds a token: copy the Signing Secret from ${where} → Basic Information → App Credentials.`,
  ]);
});

test("its API's address ends in /api/", () => {
  expect(problems({ ...http, SLACK_API_URL: "http://127.0.0.1:1/" })).toEqual([
    "SLACK_API_URL must end in /api/.",
  ]);
});
