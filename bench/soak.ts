/**
 * Memory of the bot after a number of accepted events and after ten times as many. Each event is a help command in
 * its own thread, which is settled after the answer, so that nothing has to be kept.
 */
import { setTimeout as delay } from "node:timers/promises";
import { slashCommand } from "#bench/load/deliveries.ts";
import type { Shot } from "#bench/load/open-loop.ts";
import { secrets } from "#bench/world/credentials.ts";
import { atMost, type Figure, inMegabytes } from "#bench/world/figures.ts";
import type { Ground } from "#bench/world/ground.ts";
import { type Bot, memoryOf, metricOf, startBot, startOutside } from "#bench/world/world.ts";
import { signedRequest } from "#sandbox/slack/deliver.ts";

/** The promised numbers; if the time is too short, a tenth or less is measured, and the table says so. */
const aimedEvents = 100_000;
const boundMs = 150_000;
/** Senders that each wait for the answer before they send again. */
const senders = 16;
const rateShots = 1_000;
const fewestEvents = 2_000;
const mostGrowth = 1.1;

export async function measureSoak(ground: Ground): Promise<readonly Figure[]> {
  const outside = await startOutside(ground);
  const bot = await startBot(ground, outside, ground.folder());
  const started = performance.now();
  await send(bot, rateShots);
  const perSecond = (rateShots * 1000) / (performance.now() - started);
  const affordable = (perSecond * boundMs) / 1000;
  const many = affordable >= aimedEvents ? aimedEvents : Math.max(10 * fewestEvents, round(affordable));
  const few = many / 10;
  await send(bot, few - rateShots);
  const first = memoryOf(bot.pid);
  await send(bot, many - few);
  const last = memoryOf(bot.pid);
  const seconds = (performance.now() - started) / 1000;
  await bot.end();
  await outside.end();

  const scaled =
    many === aimedEvents ? "" : `, scaled down from ${aimedEvents} to stay near ${boundMs / 1000} s`;
  const what = `memory after ${many} accepted events (VmRSS)${scaled}`;
  if (first === null || last === null) return [{ what, measured: "not told by this system (no /proc)" }];
  const growth = last.now / first.now;
  return [
    {
      what,
      measured: `${inMegabytes(last.now)} (${growth.toFixed(2)} times)`,
      baseline: `${inMegabytes(first.now)} after ${few}; ${Math.round(many / seconds)} events a second`,
      aim: atMost(growth, mostGrowth, `flat: at most ${mostGrowth} times`),
    },
  ];
}

const round = (events: number): number => Math.floor(events / 10_000) * 10_000;

/** `/agent help` without a response URL, so that the answer goes to the stand-in's Web API. */
function helpCommand(): Shot {
  const { path, body } = slashCommand();
  const fields = new URLSearchParams(body);
  fields.set("text", "help");
  fields.delete("response_url");
  const signing = { signingSecret: secrets.slackSigning, now: Date.now };
  const signed = signedRequest(signing, fields.toString(), "application/x-www-form-urlencoded", "right");
  return { path, headers: signed.headers, body: fields.toString() };
}

/** Resolves when all events were accepted and their work is performed. */
async function send(bot: Bot, events: number): Promise<void> {
  let left = events;
  const sender = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { path, headers, body } = helpCommand();
      const response = await fetch(`${bot.url}${path}`, { method: "POST", headers, body });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`an event was answered with ${response.status}`);
    }
  };
  await Promise.all(Array.from({ length: senders }, sender));
  while ((await metricOf(bot, "pending_effects")) > 0) await delay(100);
}
