/** Defects planted on purpose, at least one for each promise: the simulation must find each of them. */
import type { Plant } from "#test/simulation/world/bot-process.ts";

export interface Planted {
  readonly name: string;
  /** The number of the promise that it breaks. */
  readonly promise: number;
  readonly plant: Plant;
  /** The first seed to try, if hardly any history shows the defect; 1 if absent. */
  readonly from?: number;
}
