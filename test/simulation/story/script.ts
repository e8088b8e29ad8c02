/** A scripted history: its weather and the fate of each request are given instead of drawn. */

import type { System } from "#test/simulation/world/clocks.ts";
import type { Fate, Weather } from "#test/simulation/world/weather.ts";
import type { Random } from "./random.ts";

export interface Script {
  readonly weather: Weather;
  /** Randomness that changes nothing: the network and the disk always take the same time. */
  readonly evenly: Random;
  /** A random stream of its own for each run, so that one run does not change another. */
  lifeOf(dispatch: string): Random;
  /** The fate of a request that is sent so many milliseconds after the start. */
  fate(system: System, atMs: number): Fate;
  /** Called for each request. */
  onRequest(system: System, atMs: number): void;
}
