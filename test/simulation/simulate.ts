/** Simulates histories: `npm run simulate -- --seeds 10000 [--from N] [--seed X] [--hours] [--only lag,late]`. */

import { type History, tell } from "#test/simulation/story/history.ts";
import { everyFeature, isFeature } from "#test/simulation/world/troubles.ts";
import { flagsOf, wholeNumber } from "#test/support/command-line.ts";

const usage =
  "npm run simulate -- [--seeds 1000] [--from 1] [--seed N] [--hours] [--all] [--only a,b] [--without a,b] [--adapters]";
const values = flagsOf(
  {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    /** With outages that last about an hour: each seed has another history than without. */
    hours: { type: "boolean", default: false },
    /** Continue after a failure, and count the failures. */
    all: { type: "boolean", default: false },
    /** The features of the world that histories may have, by name or `none`; all if absent. */
    only: { type: "string" },
    without: { type: "string", default: "" },
    /** The real adapters of Slack and GitHub take part in every history. */
    adapters: { type: "boolean", default: false },
  },
  usage,
);
const named = (list: string): readonly string[] =>
  list.split(",").filter((name) => !["", "none"].includes(name));
for (const name of named(`${values.only ?? ""},${values.without}`)) {
  if (!isFeature(name))
    throw new Error(`There is no feature ${name}. There are: ${everyFeature.join(", ")}.`);
}
const features = new Set(
  (values.only === undefined ? everyFeature : named(values.only).filter(isFeature)).filter(
    (name) => !named(values.without).includes(name),
  ),
);
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const atOnce = 16;
const options = { hours: values.hours, features, weather: values.adapters ? { adapters: true } : {} };

async function replay(seed: number): Promise<History> {
  const history = await tell(seed, { ...options, recording: true });
  for (const line of history.lines) say(line);
  for (const { invariant, what } of history.violations) say(`BROKEN: ${invariant}: ${what}`);
  return history;
}

async function main(): Promise<number> {
  if (values.seed !== undefined) {
    const { violations } = await replay(wholeNumber("seed", values.seed, 0, usage));
    return violations.length === 0 ? 0 : 1;
  }
  const from = wholeNumber("from", values.from, 0, usage);
  const to = from + wholeNumber("seeds", values.seeds, 1, usage);
  const began = performance.now();
  const usedBefore = process.cpuUsage();
  const failed: History[] = [];
  let told = 0;
  let happened = 0;
  for (let seed = from; seed < to && (values.all || failed.length === 0); seed += atOnce) {
    const seeds = Array.from({ length: Math.min(atOnce, to - seed) }, (_, index) => seed + index);
    const histories = await Promise.all(seeds.map((each) => tell(each, options)));
    told += histories.length;
    for (const history of histories) {
      happened += history.happened;
      if (history.violations.length > 0) failed.push(history);
    }
  }
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(usedBefore);
  if (values.all) {
    const first = failed.flatMap(({ violations }) => violations.slice(0, 1));
    for (const [invariant, { length }] of Map.groupBy(first, (violation) => violation.invariant)) {
      say(`${String(length).padStart(6)} ${invariant}`);
    }
    for (const { seed, violations } of failed.slice(0, 60)) {
      say(`${seed}: ${violations[0]?.invariant}: ${violations[0]?.what}`);
    }
  }
  const [first] = failed;
  if (first !== undefined && !values.all) await replay(first.seed);
  say(
    `${told} histories in ${seconds.toFixed(1)} s: ${(told / seconds).toFixed(0)} a second, ` +
      `${((told / (user + system)) * 1_000_000).toFixed(0)} a second of one core, ` +
      `${(happened / told).toFixed(0)} happenings each; ${failed.length} failed` +
      (first === undefined ? "." : `, first seed ${first.seed}.`),
  );
  return first === undefined ? 0 : 1;
}

process.exitCode = await main();
