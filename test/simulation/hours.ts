/** Adds outages of every kind that last about an hour to a seed's weather. */
import { createRandom } from "#test/simulation/story/random.ts";
import type { Fate, Weather } from "#test/simulation/world/weather.ts";

const minute = 60_000;
const fates = [
  "unreached",
  "lost-before",
  "lost-after",
  "hung-before",
  "hung-after",
  "limited",
  "failed",
  "nonsense",
  "garbled",
  "timed-out",
  "slow",
] as const satisfies readonly Fate[];

/** Drawn from a random stream of its own, so that the rest of the seed's history stays the same. */
export function withHours(seed: number, weather: Weather): Weather {
  const random = createRandom(seed, "hours");
  const actsMs = random.between(30, 90) * minute;
  return {
    ...weather,
    // An outage may hide an end that is visible otherwise.
    calm: false,
    actsMs,
    acts: random.whole(12, 40),
    outages: Array.from({ length: random.whole(1, 3) }, () => {
      const fromMs = random.between(0, actsMs * 0.8);
      return {
        system: random.pick(["agent-runs", "slack", "github"] as const),
        fromMs,
        toMs: fromMs + random.between(15, 75) * minute,
        fate: random.pick(fates),
      };
    }),
  };
}
