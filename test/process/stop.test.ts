import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { signedRequest } from "#sandbox/slack/deliver.ts";
import { startBot } from "#test/support/bot/start-bot.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { listen } from "#test/support/listen.ts";

/** A Slack that answers only `auth.test`. */
async function hangingSlack() {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (!request.url?.endsWith("auth.test")) return;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      '{"ok":true,"team_id":"T0TOWN","user_id":"U0BOT","bot_id":"B0BOT","url":"https://town.slack.com/"}',
    );
  });
  const { url, close } = await listen(server);
  onTestFinished(close);
  return { url: `${url}/api/`, asked };
}

const run = z.object({ run_id: z.string(), state: z.string() });

test("an agent that ignores signals and a Slack that hangs delay the stop at the same time, not one after the other", async () => {
  const cwd = await freshFolder();
  const slack = await hangingSlack();
  const env = {
    SLACK_BOT_TOKEN: "xoxb-1",
    SLACK_SIGNING_SECRET: "signing-secret",
    SLACK_API_URL: slack.url,
    AGENT_COMMAND: "trap '' TERM; echo up > ../up; while :; do sleep 0.1; done",
  };
  const bot = await startBot(env, { cwd });
  const url = await bot.url;
  const key = (await readFile(join(cwd, "data/embedded-service-key"), "utf8")).trim();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify({ prompt: "x" });
  const made = await fetch(`${url}/api/v1/agent/run`, { method: "POST", headers, body });
  const { run_id } = run.parse(await made.json());
  await expect.poll(() => readFile(join(cwd, "data", "work", "up"), "utf8").catch(() => "")).toBe("up\n");

  const command = new URLSearchParams({
    command: "/agent",
    text: "run it",
    team_id: "T0TOWN",
    channel_id: "C0GENERAL",
    channel_name: "general",
    user_id: "U0ALICE",
    user_name: "alice",
    trigger_id: "1.2.3",
    response_url: `${slack.url}response`,
    is_enterprise_install: "false",
  }).toString();
  const signing = { signingSecret: env.SLACK_SIGNING_SECRET, now: Date.now };
  const signed = signedRequest(signing, command, "application/x-www-form-urlencoded", "right");
  const acked = await fetch(`${url}/slack/events`, {
    method: "POST",
    headers: signed.headers,
    body: command,
  });
  expect(acked.status).toBe(200);
  await expect.poll(() => slack.asked.some((path) => path.endsWith("chat.postMessage"))).toBe(true);

  bot.signal("SIGTERM");
  // Slack's pending request takes nine seconds, the agent a little over five.
  const late = sleep(12_500, "late", { ref: false });
  expect(await Promise.race([bot.ended, late])).toBe(0);
  const again = await startBot({ AGENT_COMMAND: "cat" }, { cwd });
  const fetched = await fetch(`${await again.url}/api/v1/agent/runs/${run_id}`, { headers });
  expect(run.parse(await fetched.json()).state).toBe("ERROR");
});
