import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { namesWith } from "#config/environment.ts";
import { readConfig } from "#config/read-config.ts";
import { github } from "#github/platform.ts";
import { slack } from "#slack/platform.ts";

const platforms = [slack, github];
const names = namesWith(platforms);
const root = join(import.meta.dirname, "../..");
const text = await readFile(join(root, ".env.example"), "utf8");
const lines = text.split("\n");
const named = lines.flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? []);

/** The public names, which must not change. */
const design =
  "HOST PORT PUBLIC_URL DATA_DIR DATABASE_URL CONFIG_FILE AGENT_API_BASE_URL AGENT_API_KEY AGENT_RUN_NAME AGENT_COMMAND AGENT_WORK_DIR AGENT_MAX_RUNS AGENT_TIMEOUT SLACK_BOT_TOKEN SLACK_SIGNING_SECRET SLACK_APP_TOKEN SLACK_API_URL GITHUB_WEBHOOK_SECRET GITHUB_TOKEN GITHUB_APP_ID GITHUB_PRIVATE_KEY GITHUB_API_URL POLL_INTERVAL LOG_LEVEL";

test("the bot reads exactly the public variables", () => {
  expect([...names].sort()).toEqual(design.split(" ").sort());
});

test(".env.example names every variable that the bot reads, and no other", () => {
  expect([...named].sort()).toEqual([...names].sort());
});

test(".env.example explains every variable in the line above it", () => {
  const unexplained = named.filter((name) => !lines[lines.indexOf(`${name}=`) - 1]?.startsWith("# "));
  expect(unexplained).toEqual([]);
});

test("docs/configuration.md explains every variable that the bot reads", async () => {
  const docs = await readFile(join(root, "docs/configuration.md"), "utf8");
  expect(names.filter((name) => !docs.includes(`\`${name}\``))).toEqual([]);
});

test("the example in docs/configuration.md is a config file without a problem", async () => {
  const docs = await readFile(join(root, "docs/configuration.md"), "utf8");
  const example = /```yaml\n([\s\S]*?)```/.exec(docs)?.[1] ?? null;
  expect(example).not.toBeNull();
  expect(readConfig({ CONFIG_FILE: "example" }, () => example, platforms)).toMatchObject({
    ok: true,
    warnings: [],
  });
});
