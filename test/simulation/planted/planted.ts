/** Defects planted on purpose, at least one for each promise: the simulation must find each of them. */
import type { Plant } from "#test/simulation/world/bot-process.ts";
import type { Feature } from "#test/simulation/world/troubles.ts";
import type { Weather } from "#test/simulation/world/weather.ts";

export interface Planted {
  readonly name: string;
  /** The number of the promise that it breaks. */
  readonly promise: number;
  readonly plant: Plant;
  /** The first seed to try, if hardly any history shows the defect; 1 if absent. */
  readonly from?: number;
  /** The features of the world in which it shows; none if absent. */
  readonly features?: readonly Feature[];
  /** Only histories with such weather are simulated; all if absent. */
  readonly when?: (weather: Weather) => boolean;
  /** Takes the place of the weather that is drawn, where hardly any history has it. */
  readonly weather?: Partial<Weather>;
  /** The invariant that must be violated; any if absent. */
  readonly breaks?: string;
}
