/** A history that is laid down instead of drawn: what its weather is, and what becomes of each request. */

import type { Fate, System, Weather } from "#test/simulation/world/weather.ts";
import type { Random } from "./random.ts";

export interface Script {
  readonly weather: Weather;
  /** Chance that disturbs nothing: the wires and the disk take the same time whatever else happens. */
  readonly evenly: Random;
  /** A stream of its own for each run, so that what happens to one changes no other's life. */
  lifeOf(dispatch: string): Random;
  /** What becomes of a request that is sent so many milliseconds after the start. */
  fate(system: System, atMs: number): Fate;
  /** Hears of each request. */
  onRequest(system: System, atMs: number): void;
}
