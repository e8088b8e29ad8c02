/**
 * The time from `/agent run …` in Slack until the API gets the run's creation, by rate, and the most dispatches a
 * second of one process. Each command comes from a channel of its own, so that no platform's pace binds.
 */
import { setTimeout as delay } from "node:timers/promises";
import { slashCommand } from "#bench/load/deliveries.ts";
import { burst, type Shot, volley } from "#bench/load/open-loop.ts";
import { atMost, type Figure, inMs, quantile } from "#bench/world/figures.ts";
import type { Ground } from "#bench/world/ground.ts";
import { type Bot, type Creates, metricOf, startBot, startQuickOutside } from "#bench/world/world.ts";

const warmUp = 200;
const destinationMs = 250;
const rates = [20, 40, 100];
const secondsEach = 10;
const flood = 1_000;
const atOnce = 32;
const mostMs = 600;
const fewestPerSecond = 120;
const restsWithinMs = 90_000;

export async function measureDispatch(ground: Ground): Promise<readonly Figure[]> {
  return [...(await atSlowDestinations(ground)), await atInstantDestinations(ground)];
}

async function atSlowDestinations(ground: Ground): Promise<readonly Figure[]> {
  const load = await startLoad(ground, destinationMs);
  const figures: Figure[] = [];
  for (const rate of rates) {
    const waits = (await load.send(rate * secondsEach, rate)).map(({ waitedMs }) => waitedMs);
    const p50 = quantile(waits, 0.5);
    figures.push({
      what: `create after a command, ${rate} a second, destinations take ${destinationMs} ms, p50 of ${waits.length}`,
      measured: `${inMs(p50)}, p99 ${inMs(quantile(waits, 0.99))}`,
      // A command's card is posted before its run is created.
      baseline: inMs(destinationMs),
      aim: atMost(p50, mostMs, `at most ${mostMs} ms`),
    });
  }
  await load.end();
  return figures;
}

async function atInstantDestinations(ground: Ground): Promise<Figure> {
  const load = await startLoad(ground, 0);
  const made = await load.flood(flood, atOnce);
  await load.end();
  const times = made.map(({ at }) => at);
  const perSecond = (flood * 1000) / (Math.max(...times) - Math.min(...times));
  return {
    what: `dispatches a second, destinations answer at once, of ${flood} commands, ${atOnce} under way at once`,
    measured: perSecond.toFixed(0),
    aim: { text: `at least ${fewestPerSecond}`, met: perSecond >= fewestPerSecond },
  };
}

async function startLoad(ground: Ground, answerAfterMs: number) {
  const outside = await startQuickOutside(ground, answerAfterMs);
  const bot = await startBot(ground, outside, ground.folder());
  let number = 0;

  const commands = (count: number): readonly Shot[] =>
    Array.from({ length: count }, () => {
      number += 1;
      return slashCommand(`C0BENCH${number}`, `run fix the flaky test ${number}`);
    });

  /** Sends commands, waits until all is performed, and returns the creations with their waits. */
  async function send(count: number, perSecond: number) {
    const first = number + 1;
    const shots = commands(count);
    const beganAt = performance.timeOrigin + performance.now() + 50;
    await volley(bot.url, shots, perSecond);
    const creates = await allCreated(outside.creates, count);
    await rest(bot);
    return creates.map(({ prompt, at }) => {
      const index = Number(/flaky test (\d+)/.exec(prompt)?.[1]) - first;
      return { at, waitedMs: at - beganAt - (index * 1000) / perSecond };
    });
  }

  await send(warmUp, 40);
  return {
    send,
    /** Sends commands, so many at once, and returns the creations. */
    async flood(count: number, atOnce: number): Promise<Creates> {
      await burst(bot.url, commands(count), atOnce);
      const creates = await allCreated(outside.creates, count);
      await rest(bot);
      return creates;
    },
    async end() {
      await bot.end();
      await outside.end();
    },
  };
}

async function allCreated(more: () => Promise<Creates>, count: number): Promise<Creates> {
  const creates: Creates[number][] = [];
  for (const since = performance.now(); performance.now() - since < restsWithinMs; await delay(250)) {
    creates.push(...(await more()));
    if (creates.length >= count) return creates;
  }
  throw new Error(`only ${creates.length} of ${count} runs were created`);
}

async function rest(bot: Bot): Promise<void> {
  const since = performance.now();
  while ((await metricOf(bot, "pending_effects")) > 0) {
    if (performance.now() - since > restsWithinMs) throw new Error("the bot did not come to rest");
    await delay(250);
  }
}
