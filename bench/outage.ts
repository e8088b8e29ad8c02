/**
 * The time that Slack and GitHub wait for the bot's answer at 50 requests a second while the API hangs or refuses,
 * beside a healthy API. They take turns, so that a change of the machine's load affects all.
 */
import { setTimeout as delay } from "node:timers/promises";
import { createLabeled, slashCommand } from "#bench/load/deliveries.ts";
import { type GateMode, openGate } from "#bench/load/gate.ts";
import { volley } from "#bench/load/open-loop.ts";
import { type Figure, quantile, timesBaseline } from "#bench/world/figures.ts";
import type { Ground } from "#bench/world/ground.ts";
import { startBot, startOutside } from "#bench/world/world.ts";

const perSecond = 50;
const rounds = 2;
const shotsInRound = 150;
const warmUpShots = 200;
const answerAfterMs = 100;
/** Waits until the requests of the round are performed, except for those that the outage delays. */
const betweenMs = 2_000;
const times = 1.5;
const modes = ["open", "hangs", "refuses"] as const satisfies readonly GateMode[];

export async function measureOutage(ground: Ground): Promise<readonly Figure[]> {
  const issues = warmUpShots + rounds * modes.length * shotsInRound;
  const outside = await startOutside(ground, { answerAfterMs, issues });
  const gate = await openGate(outside.apiUrl);
  const bot = await startBot(ground, { ...outside, apiUrl: gate.url }, ground.folder());
  const labeled = createLabeled(issues);
  let number = 0;
  const shots = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      index % 2 === 0 ? slashCommand() : labeled(++number, "/github/webhooks"),
    );
  const waits: Record<GateMode, number[]> = { open: [], hangs: [], refuses: [] };
  await volley(bot.url, shots(warmUpShots), perSecond);
  for (let round = 0; round < rounds; round += 1) {
    for (const mode of modes) {
      gate.turn(mode);
      await delay(betweenMs);
      waits[mode].push(...(await volley(bot.url, shots(shotsInRound), perSecond)));
    }
  }
  gate.turn("open");
  await bot.end();
  gate.close();
  await outside.end();
  return (["hangs", "refuses"] as const).flatMap((mode) =>
    [0.5, 0.99].map((share) =>
      timesBaseline(
        `accept while the API ${mode}, p${share * 100} of ${waits[mode].length}`,
        quantile(waits[mode], share),
        quantile(waits.open, share),
        times,
      ),
    ),
  );
}
