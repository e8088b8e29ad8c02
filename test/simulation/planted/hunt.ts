/**
 * Plants each defect and simulates histories until one shows it: `node test/simulation/planted/hunt.ts [name]`. The
 * argument is a part of the names.
 */
import { tell } from "#test/simulation/story/history.ts";
import { drawWeather } from "#test/simulation/world/weather.ts";
import { adapters } from "./adapters.ts";
import { away } from "./away.ts";
import { lagging } from "./lagging.ts";
import { people } from "./people.ts";
import { performing } from "./performing.ts";
import type { Planted } from "./planted.ts";
import { saving } from "./saving.ts";

export const planted: readonly Planted[] = [
  ...saving,
  ...performing,
  ...lagging,
  ...people,
  ...away,
  ...adapters,
].sort((one, other) => one.promise - other.promise);

const mostHistories = 1_000;
const mostSeeds = 50_000;
const atOnce = 2;

export interface Caught {
  readonly seed: number;
  readonly invariant: string;
}

/** The first seed whose history shows the defect; null: none of a thousand histories does. */
export async function hunt({
  plant,
  from: first = 1,
  features: names = [],
  when = () => true,
  weather = {},
  breaks,
}: Planted): Promise<Caught | null> {
  const features = new Set(names);
  let histories = 0;
  for (let seed = first; seed < first + mostSeeds && histories < mostHistories; ) {
    const seeds: number[] = [];
    for (; seeds.length < atOnce && seed < first + mostSeeds; seed += 1) {
      if (when(drawWeather(seed, features))) seeds.push(seed);
    }
    histories += seeds.length;
    for (const { seed, violations } of await Promise.all(
      seeds.map((each) => tell(each, { plant, features, weather })),
    )) {
      const violation = violations.find(({ invariant }) => breaks === undefined || invariant === breaks);
      if (violation !== undefined) return { seed, invariant: violation.invariant };
    }
  }
  return null;
}

if (import.meta.main) {
  const [part = ""] = process.argv.slice(2);
  for (const each of planted.filter(({ name }) => name.includes(part))) {
    const began = performance.now();
    const caught = await hunt(each);
    const where = caught === null ? "NOT CAUGHT" : `seed ${caught.seed}: ${caught.invariant}`;
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    process.stdout.write(`| ${each.promise} | ${each.name} | ${where} | ${seconds} s |\n`);
    if (caught === null) process.exitCode = 1;
  }
}
