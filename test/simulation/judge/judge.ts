/** Judges the promises by what is visible from outside once all is quiet. */
import type { Deed } from "#test/simulation/world/deliveries.ts";
import { gather } from "#test/simulation/world/outside.ts";
import type { World } from "#test/simulation/world/world.ts";
import { checkCards } from "./cards.ts";
import { checkContext } from "./context.ts";
import { checkDeeds } from "./deeds.ts";
import { checkPrompt } from "./prompt.ts";
import { checkRuns } from "./runs.ts";
import { checkStore } from "./store.ts";
import { checkTwins } from "./twins.ts";

export function judge(world: World, deeds: readonly Deed[]): void {
  const outside = gather(world, deeds);
  checkRuns(outside);
  checkDeeds(outside);
  checkContext(outside);
  checkCards(outside);
  checkStore(outside);
  checkTwins(outside);
  checkPrompt(outside);
}
