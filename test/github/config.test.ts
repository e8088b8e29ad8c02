import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { readGitHubSettings } from "#github/config.ts";
import { github } from "#github/platform.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
const pkcs8 = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const withToken = { GITHUB_TOKEN: "ghp_secret1", GITHUB_WEBHOOK_SECRET: "hook-secret-1" };
const files: Readonly<Record<string, string>> = {};

/** The settings of a valid environment. */
function settings(env: Record<string, string>, given = files) {
  const reading = readGitHubSettings(env, (path) => given[path] ?? null);
  expect(reading.problems).toEqual([]);
  return reading.settings;
}

/** The problems of a faulty environment. */
function problems(env: Record<string, string>): readonly string[] {
  const reading = readGitHubSettings(env, () => null);
  expect(reading.settings).toBeNull();
  return reading.problems;
}

test("a token is enough, and the API may be another server's", () => {
  const GITHUB_API_URL = "https://github.example.com/api/v3/";
  expect(settings({ ...withToken, GITHUB_API_URL })).toEqual({
    webhookSecret: "hook-secret-1",
    credentials: { kind: "token", token: "ghp_secret1" },
    apiUrl: "https://github.example.com/api/v3",
  });
});

const app = "https://github.com/settings/apps → your app";

test("an app's key is given as text, as one line, or as a path", () => {
  const env = { GITHUB_APP_ID: "12", GITHUB_WEBHOOK_SECRET: "hook" };
  const credentials = { kind: "app", appId: "12", privateKey: pkcs8 };
  for (const GITHUB_PRIVATE_KEY of [pem, pem.replaceAll("\n", "\\n"), "app.pem"]) {
    expect(settings({ ...env, GITHUB_PRIVATE_KEY }, { "app.pem": pem })).toEqual({
      webhookSecret: "hook",
      credentials,
    });
  }
});

test("a credential without a webhook secret is not enough to receive", () => {
  expect(problems({ GITHUB_TOKEN: "t" })).toEqual([
    "GITHUB_WEBHOOK_SECRET is missing: choose a long random text and enter it here and at your repository → Settings → Webhooks.",
  ]);
  expect(problems({ GITHUB_APP_ID: "12", GITHUB_PRIVATE_KEY: pem })).toEqual([
    `GITHUB_WEBHOOK_SECRET is missing: choose a long random text and enter it here and at ${app} → Webhook.`,
  ]);
});

test("a webhook secret alone is not enough to send", () => {
  expect(problems({ GITHUB_WEBHOOK_SECRET: "hook" })).toEqual([
    "GITHUB_TOKEN is missing: make one at https://github.com/settings/personal-access-tokens, or set GITHUB_APP_ID and GITHUB_PRIVATE_KEY.",
  ]);
});

test("half a GitHub App, and an App beside a token, are problems", () => {
  expect(problems({ ...withToken, GITHUB_APP_ID: "12" })).toEqual([
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
    `is not a complete private key in PEM form: use the .pem file from ${app}.`,
  ],
])("%s is not a key", (GITHUB_PRIVATE_KEY, sentence) => {
  const env = { GITHUB_APP_ID: "12", GITHUB_WEBHOOK_SECRET: "hook", GITHUB_PRIVATE_KEY };
  expect(problems(env)).toEqual([`GITHUB_PRIVATE_KEY ${sentence}`]);
});

test("a webhook secret may be two while it is changed, and both are secrets", () => {
  const env = { GITHUB_TOKEN: "token-1", GITHUB_WEBHOOK_SECRET: "old-secret, new-secret" };
  expect(github.read(env, () => null).settings?.secrets).toEqual(["token-1", "old-secret", "new-secret"]);
  expect(problems({ GITHUB_TOKEN: "token-1", GITHUB_WEBHOOK_SECRET: " , " })).toEqual([
    "GITHUB_WEBHOOK_SECRET is nothing but commas.",
  ]);
});

test("a name is not an App ID, and a key is not a token", () => {
  expect(problems({ GITHUB_APP_ID: "my app", GITHUB_PRIVATE_KEY: pem, GITHUB_WEBHOOK_SECRET: "h" })).toEqual([
    `GITHUB_APP_ID must be the App ID, a number: copy it from ${app} → About.`,
  ]);
  expect(problems({ GITHUB_TOKEN: pem, GITHUB_WEBHOOK_SECRET: "h" })).toEqual([
    "GITHUB_TOKEN holds the value for GITHUB_PRIVATE_KEY.",
  ]);
});

test("the variables that a workflow or a codespace sets by itself connect nothing", () => {
  const ambient = { GITHUB_TOKEN: "t", GITHUB_API_URL: "https://api.github.com" };
  expect(settings({ ...ambient, GITHUB_ACTIONS: "true" })).toBeNull();
  expect(settings({ ...ambient, CODESPACES: "true" })).toBeNull();
});
test("GitHub's pages are not its API", () => {
  const token = { GITHUB_TOKEN: "t", GITHUB_WEBHOOK_SECRET: "s" };
  expect(problems({ ...token, GITHUB_API_URL: "https://github.com" })).toEqual([
    "GITHUB_API_URL is the address of GitHub's pages and not of its API: unset it, since github.com is the default.",
  ]);
  expect(settings({ ...token, GITHUB_API_URL: "https://api.github.com/" })?.apiUrl).toBe(
    "https://api.github.com",
  );
});
