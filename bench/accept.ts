/**
 * The time that Slack and GitHub wait for the bot's answer at 50 requests a second, while the bot also performs the
 * resulting work. The bot and the baseline take turns, so that a change of the machine's load affects both.
 */
import { setTimeout as delay } from "node:timers/promises";
import { createLabeled, slashCommand } from "#bench/load/deliveries.ts";
import { type Shot, volley } from "#bench/load/open-loop.ts";
import { type Figure, quantile, timesBaseline } from "#bench/world/figures.ts";
import type { Ground } from "#bench/world/ground.ts";
import { type Bot, metricOf, startBot, startOutside } from "#bench/world/world.ts";

const perSecond = 50;
const rounds = 3;
const shotsInRound = 200;
const warmUpShots = 200;
/** Roughly the response time of Slack, GitHub and the API. */
const answerAfterMs = 100;
const idleWithinMs = 60_000;
const times = 2;

export async function measureAccept(ground: Ground): Promise<readonly Figure[]> {
  const issues = warmUpShots + rounds * shotsInRound;
  const outside = await startOutside(ground, { answerAfterMs, issues });
  const bot = await startBot(ground, outside, ground.folder());
  await outside.tellBot(bot.url);
  const labeled = createLabeled(issues);
  const bareSlack = await startBare(ground, "bench/baselines/bare-slack.ts");
  const bareGitHub = await startBare(ground, "bench/baselines/bare-github.ts");
  const slack = contestOf(
    bareSlack,
    bot.url,
    () => slashCommand(),
    () => slashCommand(),
  );
  let number = 0;
  const github = contestOf(
    bareGitHub,
    bot.url,
    () => labeled(1, "/api/github/webhooks"),
    () => labeled(++number, "/github/webhooks"),
  );
  const contests = [slack, github];

  for (const contest of contests) await contest.round(warmUpShots, "not counted", () => idle(bot));
  for (let round = 0; round < rounds; round += 1) {
    for (const contest of contests) await contest.round(shotsInRound, "counted", () => idle(bot));
  }
  await bot.end();
  await outside.end();
  return [...slack.figures("Slack command"), ...github.figures("GitHub label")];
}

async function startBare(ground: Ground, script: string): Promise<string> {
  const [, url = ""] = await ground.start(script).wrote(/listens at (\S+)\n/);
  return url;
}

interface Contender {
  readonly url: string;
  readonly shot: () => Shot;
  /** Milliseconds. */
  readonly waits: number[];
}

function contestOf(bareUrl: string, botUrl: string, toBare: () => Shot, toBot: () => Shot) {
  const bare: Contender = { url: bareUrl, shot: toBare, waits: [] };
  const bot: Contender = { url: botUrl, shot: toBot, waits: [] };
  return {
    async round(shots: number, how: "counted" | "not counted", idle: () => Promise<void>): Promise<void> {
      for (const { url, shot, waits } of [bare, bot]) {
        const took = await volley(url, Array.from({ length: shots }, shot), perSecond);
        if (how === "counted") waits.push(...took);
        await idle();
      }
    },
    figures: (what: string): readonly Figure[] =>
      [0.5, 0.99].map((share) =>
        timesBaseline(
          `${what}, p${share * 100} of ${bot.waits.length}`,
          quantile(bot.waits, share),
          quantile(bare.waits, share),
          times,
        ),
      ),
  };
}

/** Waits until the bot has no work left. */
async function idle(bot: Bot): Promise<void> {
  const started = performance.now();
  while ((await metricOf(bot, "pending_effects")) > 0) {
    if (performance.now() - started > idleWithinMs) throw new Error("the bot did not come to rest");
    await delay(250);
  }
  await delay(500);
}
