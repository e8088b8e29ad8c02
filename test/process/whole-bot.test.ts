import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { startStandIns } from "#test/support/bot/stand-ins.ts";
import { startBot } from "#test/support/bot/start-bot.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";

const runList = z.object({ runs: z.array(z.object({ state: z.string() })) });

/** Stand-ins of Slack and GitHub, and the environment that connects a bot to them. */
async function outside(bot: { url: string }) {
  const standIns = await startStandIns({ botUrl: () => bot.url });
  onTestFinished(standIns.close);
  const env = {
    ...standIns.environment,
    AGENT_COMMAND: "cat > /dev/null; echo The answer is $((6 * 7)).",
    POLL_INTERVAL: "0.2",
  };
  return { ...standIns, env };
}

test("asked in Slack and on GitHub, the bot runs the command and answers where it was asked", async () => {
  const at = { url: "" };
  const { slack, github, env } = await outside(at);
  const bot = await startBot(env);
  at.url = await bot.url;
  const ready = await fetch(`${at.url}/readyz`);
  expect(await ready.json()).toEqual({ store: "ok", api: "ok", slack: "ok", github: "ok" });

  const said = await slack.say({ user: "alice", channel: "general", text: "@agent what is the answer?" });
  expect(said.statuses).toContain(200);
  const { number, id } = await github.openIssue({ user: "alice", repo: "octo/app", title: "What is it?" });
  expect(id).toBeGreaterThan(0);
  const labeled = await github.label({ user: "alice", repo: "octo/app", issue: number, label: "agent" });
  expect(labeled.delivery?.status).toBe(200);

  const answered = "The answer is 42.";
  await expect.poll(() => JSON.stringify(slack.snapshot().channels)).toContain(answered);
  await expect
    .poll(() =>
      github
        .snapshot()
        .comments.map(({ body }) => body)
        .join(),
    )
    .toContain(answered);

  await expect
    .poll(async () => (await fetch(`${at.url}/metrics`)).text())
    .toMatch(/^agent_runs_bot_unsettled_threads 0$/m);
  const metrics = await (await fetch(`${at.url}/metrics`)).text();
  expect(metrics).toMatch(/^agent_runs_bot_accept_seconds_count\{event="label",answer="saved"\} 1$/m);
  expect(metrics).toMatch(
    /^agent_runs_bot_perform_seconds_count\{effect="create",system="[\w-]+",outcome="ok"\} 2$/m,
  );

  bot.signal("SIGTERM");
  expect(await bot.ended).toBe(0);
  expect(bot.stdout() + bot.stderr()).not.toContain("of-the-test");
});

test("after a kill it resumes at the next start, and there is one run", async () => {
  const at = { url: "" };
  const { slack, env } = await outside(at);
  const cwd = await freshFolder();
  await writeFile(join(cwd, "bot.yaml"), "limits:\n  settling_seconds: { api: 1, slack: 1, github: 1 }\n");
  Object.assign(env, { CONFIG_FILE: join(cwd, "bot.yaml") });
  const first = await startBot({ ...env, AGENT_COMMAND: "sleep 60" }, { cwd });
  at.url = await first.url;
  await slack.say({ user: "alice", channel: "general", text: "@agent take your time" });
  first.signal("SIGKILL");
  await first.ended;

  const second = await startBot(env, { cwd });
  at.url = await second.url;
  const key = (await readFile(join(cwd, "data/embedded-service-key"), "utf8")).trim();
  const states = async () => {
    const list = await fetch(`${at.url}/api/v1/agent/runs`, { headers: { authorization: `Bearer ${key}` } });
    return runList.parse(await list.json()).runs.map(({ state }) => state);
  };
  const ended = [expect.stringMatching(/^(SUCCEEDED|FAILED)$/)];
  await expect.poll(states).toEqual(ended);
  // The thread stays unsettled for an hour, since it is looked at for twins.
  const performed = async () => (await fetch(`${at.url}/metrics`)).text();
  await expect.poll(performed).toMatch(/^agent_runs_bot_pending_effects 0$/m);
  expect(await states()).toEqual(ended);
});
