/** Whether what can be seen outside, when all is quiet, is what people were promised. */
import type { Deed } from "./deliveries.ts";
import { checkCards } from "./judge-cards.ts";
import { checkDeeds } from "./judge-deeds.ts";
import { checkRuns } from "./judge-runs.ts";
import { checkStore } from "./judge-store.ts";
import { gather } from "./outside.ts";
import type { World } from "./world.ts";

export function judge(world: World, deeds: readonly Deed[]): void {
  const seen = gather(world, deeds);
  checkRuns(seen);
  checkDeeds(seen);
  checkCards(seen);
  checkStore(seen);
}
