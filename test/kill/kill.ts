/**
 * Kills the real bot at random moments while people send requests, and judges the result:
 * `npm run kill -- --requests 2000 --kills 200 --seed 1`, and `--service-kills 20` for the service as well. With
 * `--lagging`, Slack, GitHub and the service show late what they did, and lose answers.
 */

import { followUpsOf } from "#test/kill/judge/runs.ts";
import { flagsOf, wholeNumber } from "#test/support/command-line.ts";
import { tellHistory } from "./history.ts";
import { laggingSettlingSeconds, laggingWorld } from "./lagging.ts";

const usage =
  "npm run kill -- [--requests 2000] [--kills 200] [--service-kills 0] [--seed N] [--lagging] [--settle]";
const values = flagsOf(
  {
    requests: { type: "string", default: "2000" },
    kills: { type: "string", default: "200" },
    "service-kills": { type: "string", default: "0" },
    seed: { type: "string" },
    lagging: { type: "boolean", default: false },
    /** Also wait until no run is followed any more, which takes minutes. */
    settle: { type: "boolean", default: false },
  },
  usage,
);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<number> {
  const seed = wholeNumber("seed", values.seed ?? `${Math.floor(Math.random() * 1e9)}`, 0, usage);
  const kills = wholeNumber("kills", values.kills, 0, usage);
  say(`seed ${seed}`);
  const began = performance.now();
  const { violations, deeds, outside, folder, lost, twins } = await tellHistory({
    seed,
    ...(values.lagging ? { world: laggingWorld, settlingSeconds: laggingSettlingSeconds } : {}),
    requests: wholeNumber("requests", values.requests, 1, usage),
    kills,
    serviceKills: wholeNumber("service-kills", values["service-kills"], 0, usage),
    quietWithinMs: values.lagging ? 1_200_000 : 180_000,
    settleWithinMs: values.settle ? 400_000 : 0,
    onKill: (count) => {
      if (count % 20 === 0) say(`${count} of ${kills} kills, ${Math.round(secondsSince(began))} s`);
    },
  });
  const acked = deeds.filter(({ ackedAt }) => ackedAt !== null);
  const kinds = Map.groupBy(deeds, ({ kind }) => kind);
  say(`${deeds.length} requests, ${acked.length} of them acked, besides the duplicates:`);
  for (const [kind, of] of [...kinds].sort(([, a], [, b]) => b.length - a.length)) {
    say(
      `  ${String(of.length).padStart(4)} ${kind}, ${of.filter(({ ackedAt }) => ackedAt !== null).length} acked`,
    );
  }
  const done = new Set([
    ...outside.runs.map(({ dispatch }) => dispatch),
    ...outside.runs.flatMap(followUpsOf),
  ]);
  const unheard = deeds.filter(({ ackedAt, event }) => ackedAt === null && done.has(event ?? ""));
  say(`${unheard.length} of the others took effect too, as far as they made a run or reached one`);
  const states = Map.groupBy(outside.runs, ({ state }) => state);
  say(`${outside.runs.length} runs: ${[...states].map(([state, of]) => `${of.length} ${state}`).join(", ")}`);
  say(`${outside.posts.length} messages of the bot's; ${Math.round(secondsSince(began))} s in all`);
  if (values.lagging) say(`${lost} answers of writes were lost; ${twins} twins of runs were ended`);
  for (const { promise, what } of violations) say(`BROKEN: ${promise}: ${what}`);
  say(violations.length === 0 ? `seed ${seed}: every promise held` : `seed ${seed}: see ${folder}`);
  return violations.length === 0 ? 0 : 1;
}

const secondsSince = (began: number): number => (performance.now() - began) / 1_000;

process.exitCode = await main();
