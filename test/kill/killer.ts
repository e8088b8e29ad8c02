/** Kills the bot, and perhaps the service, at random moments and starts them again. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Deeds } from "#test/kill/deeds/deeds.ts";
import type { Random } from "#test/simulation/story/random.ts";
import type { People } from "./people.ts";
import type { Town } from "./town.ts";

const ways = { working: 78, starting: 14, stopping: 8 };
export type Way = keyof typeof ways;
/** The moments of a kill: at an ack, shortly after a request, or later. */
const moments = { ack: 40, soon: 45, later: 15 };
const ackWithinMs = 1_000;

export interface Killing {
  readonly requests: number;
  readonly kills: number;
  readonly serviceKills: number;
  /** Called after each kill. */
  readonly onKill: (count: number, way: Way) => void;
}

/** Resolves when the last kill is done and the bot is up again. */
export async function killAll(
  town: Town,
  random: Random,
  { people, deeds }: { readonly people: People; readonly deeds: Deeds },
  plan: Killing,
): Promise<void> {
  const { requests, kills, serviceKills, onKill } = plan;
  const killed: Record<Way, number> = { working: 0, starting: 0, stopping: 0 };
  let services = 0;

  /** Waits until people have sent the requests due by this kill, and for a random moment after that. */
  async function workOn(count: number): Promise<void> {
    const due = Math.min(requests, ((count + random.between(0, 1)) * requests) / kills);
    for (let waited = 0; people.done() < due && waited < 10_000; waited += 10) await sleep(10);
    switch (random.weighted(moments)) {
      case "ack":
        return void (await Promise.race([deeds.nextAck(), sleep(ackWithinMs, undefined, { ref: false })]));
      case "soon":
        return void (await sleep(random.between(0, 120)));
      case "later":
        return void (await sleep(random.between(120, 1_500)));
    }
  }

  for (let count = 0; count < kills; count += 1) {
    if (services < serviceKills && count >= (services * kills) / serviceKills) {
      services += 1;
      await sleep(random.between(0, 300));
      await town.killService();
      await sleep(random.between(0, 500));
      await town.startService();
    }
    const way = random.weighted(ways);
    if (way === "starting") {
      await town.endBot("SIGKILL");
      const { child, up } = town.startBot();
      await sleep(random.between(0, 1_500));
      await child.end("SIGKILL");
      await up;
    } else {
      await workOn(count);
      if (way === "stopping") {
        const stopped = town.endBot("SIGTERM");
        await sleep(random.between(0, 150));
        await Promise.all([town.endBot("SIGKILL"), stopped]);
      } else await town.endBot("SIGKILL");
    }
    killed[way] += 1;
    onKill(count + 1, way);
    const { up } = town.startBot();
    if (!(await up)) throw new Error(`the bot did not start again; see ${town.botLog}`);
  }
}
