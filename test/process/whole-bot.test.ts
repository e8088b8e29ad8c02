import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createGitHubStandIn } from "#sandbox/github/stand-in.ts";
import { createSlackStandIn } from "#sandbox/slack/stand-in.ts";
import { botProcesses } from "#test/support/bot/bot-process.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { createWeb } from "#web/server.ts";

const bots = botProcesses();
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await bots.clean();
  for (const stop of stops.splice(0)) await stop();
});

/** A Slack and a GitHub on a server of their own, and the variables that connect a bot to them. */
async function outside(bot: { url: string }) {
  const web = createWeb({ log: recordingLog().log });
  const at = await web.listen({ host: "127.0.0.1", port: 0 });
  if (!at.ok) throw new Error(at.problem);
  stops.push(() => web.stop());
  const secrets = { botToken: "xoxb-of-the-test", signingSecret: "signing-of-the-test" };
  const slack = createSlackStandIn({
    ...secrets,
    baseUrl: `${at.url}/slack`,
    eventsUrl: () => `${bot.url}/slack/events`,
  });
  stops.push(async () => slack.close());
  const github = createGitHubStandIn({
    token: "token-of-the-test",
    webhookSecret: "hook-of-the-test",
    webhookUrl: () => `${bot.url}/github/webhooks`,
  });
  web.open({
    routes: {},
    mounts: {
      "/slack": (request) => slack.fetch(request),
      "/github": (request, connection) =>
        github.fetch(new Request(request.url.replace("/github", ""), request), connection),
    },
  });
  const env = {
    SLACK_BOT_TOKEN: secrets.botToken,
    SLACK_SIGNING_SECRET: secrets.signingSecret,
    SLACK_API_URL: `${at.url}/slack/api/`,
    GITHUB_TOKEN: "token-of-the-test",
    GITHUB_WEBHOOK_SECRET: "hook-of-the-test",
    GITHUB_API_URL: `${at.url}/github`,
    AGENT_COMMAND: "cat > /dev/null; echo The answer is $((6 * 7)).",
    POLL_INTERVAL: "0.2",
  };
  return { slack, github, env };
}

test("asked in Slack and on GitHub, the bot runs the command and answers where it was asked", async () => {
  const at = { url: "" };
  const { slack, github, env } = await outside(at);
  const bot = await bots.run(env);
  at.url = await bot.url();
  const ready = await fetch(`${at.url}/readyz`);
  expect(await ready.json()).toEqual({ store: "ok", api: "ok", slack: "ok", github: "ok" });

  const said = await slack.say({ user: "alice", channel: "general", text: "@agent what is the answer?" });
  expect(said.statuses).toContain(200);
  const { number, id } = await github.openIssue({ user: "alice", repo: "octo/app", title: "What is it?" });
  expect(id).toBeGreaterThan(0);
  const labeled = await github.label({ user: "alice", repo: "octo/app", issue: number, label: "agent" });
  expect(labeled.delivery?.status).toBe(200);

  const answered = "The answer is 42.";
  await expect.poll(() => JSON.stringify(slack.snapshot().channels), { timeout: 30_000 }).toContain(answered);
  await expect
    .poll(
      () =>
        github
          .snapshot()
          .comments.map(({ body }) => body)
          .join(),
      { timeout: 30_000 },
    )
    .toContain(answered);

  await expect
    .poll(async () => (await fetch(`${at.url}/metrics`)).text(), { timeout: 30_000 })
    .toMatch(/^agent_runs_bot_unsettled_threads 0$/m);
  const metrics = await (await fetch(`${at.url}/metrics`)).text();
  expect(metrics).toMatch(/^agent_runs_bot_accept_seconds_count\{event="label",answer="saved"\} 1$/m);
  expect(metrics).toMatch(
    /^agent_runs_bot_perform_seconds_count\{effect="create",system="[\w-]+",outcome="ok"\} 2$/m,
  );

  bot.child.kill("SIGTERM");
  expect(await bot.ended).toBe(0);
  expect(bot.stdout() + bot.stderr()).not.toContain("of-the-test");
});

test("killed in the middle, it goes on after the next start, and there is one run", async () => {
  const at = { url: "" };
  const { slack, env } = await outside(at);
  const cwd = await bots.folder();
  const first = await bots.run({ ...env, AGENT_COMMAND: "sleep 60" }, { cwd });
  at.url = await first.url();
  await slack.say({ user: "alice", channel: "general", text: "@agent take your time" });
  first.child.kill("SIGKILL");
  await first.ended;

  const second = await bots.run(env, { cwd });
  at.url = await second.url();
  const metric = async (name: string) =>
    new RegExp(`^agent_runs_bot_${name} (\\d+)$`, "m").exec(
      await (await fetch(`${at.url}/metrics`)).text(),
    )?.[1];
  await expect.poll(() => metric("unsettled_threads"), { timeout: 30_000 }).toBe("0");
  const key = await readFile(join(cwd, "data/embedded-service-key"), "utf8");
  const list = await fetch(`${at.url}/api/v1/agent/runs`, {
    headers: { authorization: `Bearer ${key.trim()}` },
  });
  expect(await list.json()).toMatchObject({
    runs: [expect.objectContaining({ prompt: expect.any(String) })],
  });
});
