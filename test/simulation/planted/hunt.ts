/** Plants each defect and simulates histories until one shows it: `node test/simulation/planted/hunt.ts`. */
import { tell } from "#test/simulation/story/history.ts";
import { people } from "./people.ts";
import { performing } from "./performing.ts";
import type { Planted } from "./planted.ts";
import { saving } from "./saving.ts";

export const planted: readonly Planted[] = [...saving, ...performing, ...people].sort(
  (one, other) => one.promise - other.promise,
);

const mostSeeds = 1_000;
const atOnce = 16;

export interface Caught {
  readonly seed: number;
  readonly invariant: string;
}

/** The first seed whose history shows the defect; null: none of a thousand does. */
export async function hunt({ plant, from: first = 1 }: Planted): Promise<Caught | null> {
  for (let from = first; from < first + mostSeeds; from += atOnce) {
    const seeds = Array.from({ length: atOnce }, (_, index) => from + index);
    const histories = await Promise.all(seeds.map((seed) => tell(seed, { plant })));
    for (const { seed, violations } of histories) {
      const [violation] = violations;
      if (violation !== undefined) return { seed, invariant: violation.invariant };
    }
  }
  return null;
}

if (import.meta.main) {
  for (const each of planted) {
    const caught = await hunt(each);
    const where = caught === null ? "NOT CAUGHT" : `seed ${caught.seed}: ${caught.invariant}`;
    process.stdout.write(`| ${each.promise} | ${each.name} | ${where} |\n`);
    if (caught === null) process.exitCode = 1;
  }
}
