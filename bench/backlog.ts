/**
 * The time from the bot's start until it has performed the pending work of 1,000 of its 10,000 threads. The events
 * were accepted while everything outside was down; now it is up again and has no rate limits.
 */
import { setTimeout as delay } from "node:timers/promises";
import { createLabeled, slashCommand } from "#bench/load/deliveries.ts";
import { openGate } from "#bench/load/gate.ts";
import { volley } from "#bench/load/open-loop.ts";
import { fillFolder } from "#bench/store/store-fill.ts";
import { atMost, type Figure } from "#bench/world/figures.ts";
import type { Ground } from "#bench/world/ground.ts";
import { type Bot, metricOf, type Outside, startBot, startOutside } from "#bench/world/world.ts";

const settled = 9_000;
/** Half of them from Slack, half from GitHub. */
const unsettled = 1_000;
const perSecond = 150;
const mostSeconds = 30;
const doneWithinMs = 120_000;

export async function measureBacklog(ground: Ground): Promise<readonly Figure[]> {
  const dataDir = ground.folder();
  await fillFolder(dataDir, settled);
  const outside = await startOutside(ground, { issues: unsettled / 2 });
  const pending = await layDown(ground, outside, dataDir);
  await outside.asked();

  const started = performance.now();
  const bot = await startBot(ground, outside, dataDir);
  const readySeconds = (performance.now() - started) / 1000;
  await performed(bot, outside);
  const seconds = (performance.now() - started) / 1000;
  await bot.end();
  await outside.end();
  return [
    {
      what: `process start until ${unsettled} threads with ${pending} effects are performed, and what follows`,
      measured: `${seconds.toFixed(1)} s`,
      baseline: `${readySeconds.toFixed(1)} s until ready`,
      aim: atMost(seconds, mostSeconds, `at most ${mostSeconds} s`),
    },
  ];
}

/** Lets a bot accept the events while everything outside is down, stops it, and returns the pending effects. */
async function layDown(ground: Ground, outside: Outside, dataDir: string): Promise<number> {
  const { slackUrl, githubUrl, apiUrl } = outside;
  const [slack, github, api] = [await openGate(slackUrl), await openGate(githubUrl), await openGate(apiUrl)];
  const gates = [slack, github, api];
  const around = { ...outside, slackUrl: slack.url, githubUrl: github.url, apiUrl: api.url };
  const bot = await startBot(ground, around, dataDir);
  for (const gate of gates) gate.turn("refuses");
  const labeled = createLabeled(unsettled / 2);
  const shots = Array.from({ length: unsettled }, (_, index) =>
    index % 2 === 0 ? slashCommand() : labeled((index + 1) / 2, "/github/webhooks"),
  );
  await volley(bot.url, shots, perSecond);
  const pending = await metricOf(bot, "pending_effects");
  await bot.end();
  for (const gate of gates) gate.close();
  return pending;
}

/** Resolves when each event has its run and no effect is pending. */
async function performed(bot: Bot, outside: Outside): Promise<void> {
  const deadline = performance.now() + doneWithinMs;
  let created = 0;
  while (performance.now() < deadline) {
    created += (await outside.asked()).others;
    const pending = await metricOf(bot, "pending_effects");
    if (created >= unsettled && pending === 0) return;
    await delay(200);
  }
  const pending = await metricOf(bot, "pending_effects");
  throw new Error(
    `after ${doneWithinMs / 1000} s ${created} runs were created, ${pending} effects are pending`,
  );
}
