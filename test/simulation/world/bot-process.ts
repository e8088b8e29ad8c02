/** One process of the bot: the real core and the real engine on simulated ports. */

import type { Log } from "#base/log.ts";
import { createDecide, type Decide } from "#core/decide/decide.ts";
import type { Rules } from "#core/policy.ts";
import { createEngine, type Engine, type EngineOptions } from "#engine/engine.ts";
import type { Clock, Platform, Store } from "#ports.ts";
import { createRandom } from "#test/simulation/story/random.ts";
import type { RunsClients, Service } from "#test/simulation/world/service/runs-client.ts";
import type { PlantedFetch } from "./adapters/adapter.ts";
import type { ChatPort } from "./chat-port.ts";
import type { Disk } from "./disk.ts";
import type { Life, Machine } from "./machine.ts";

/** A defect planted on purpose: wrappers around the parts of the bot. */
export interface Plant {
  readonly decide?: (decide: Decide) => Decide;
  readonly store?: (store: Store, disk: Disk) => Store;
  readonly service?: (service: Service, around: PlantedIn) => Service;
  readonly platform?: (platform: Platform, life: Life, around: PlantedIn) => Platform;
  readonly accept?: (accept: Engine["accept"], around: PlantedIn) => Engine["accept"];
  readonly clock?: (clock: Clock) => Clock;
  /** Stands between a real adapter and its platform. */
  readonly fetch?: PlantedFetch;
  /** Stands in for a platform that is not configured. */
  readonly absent?: (name: string) => Platform;
  readonly limits?: EngineOptions["limits"];
}

export interface PlantedIn {
  readonly machine: Machine;
  readonly disk: Disk;
  readonly clock: Clock;
}

export interface Surroundings {
  readonly machine: Machine;
  readonly disk: Disk;
  readonly service: RunsClients;
  readonly platforms: readonly ChatPort[];
  /** Names of platforms that are not configured for this process. */
  readonly absent: readonly string[];
  readonly rules: Rules;
  readonly plant: Plant;
}

export interface BotProcess {
  readonly life: Life;
  readonly absent: readonly string[];
  readonly engine: Engine;
  readonly accept: Engine["accept"];
}

const same = <T>(part: T): T => part;

export function createProcess(around: Surroundings): BotProcess {
  const { machine, disk, rules, plant } = around;
  const life = machine.newLife();
  const random = createRandom(machine.seed, `process ${life.number}`);
  const clock = (plant.clock ?? same)({
    now: () => machine.clock("bot"),
    elapsed: () => machine.time.nowMs - life.bornAt,
    random: random.next,
    after: (ms, then) =>
      // Node waits at least a millisecond.
      machine.time.after(Math.max(ms, 1), () => {
        if (!life.dead) then();
      }),
  });
  const within: PlantedIn = { machine, disk, clock };
  const service = (plant.service ?? same)(around.service.open(life), within);
  const notes = disk.open(life);
  const opened = around.platforms.map((port) => port.open(life));
  const platforms = opened.map((platform) => (plant.platform ?? same)(platform, life, within));
  const { catchUpMs } = machine.weather;
  const engine = createEngine({
    store: plant.store === undefined ? notes : plant.store(notes, disk),
    agentRuns: service,
    transcripts: service,
    factories: service,
    platforms: [
      ...platforms.filter(({ name }) => !around.absent.includes(name)),
      ...(plant.absent === undefined ? [] : around.absent.map(plant.absent)),
    ],
    decide: (plant.decide ?? same)(createDecide(rules)),
    clock,
    log: logOf(machine, life),
    runName: rules.runName,
    pollIntervalMs: 2_000,
    ...(catchUpMs === null ? {} : { catchUp: { notes, intervalMs: catchUpMs } }),
    ...(plant.limits === undefined ? {} : { limits: plant.limits }),
  });
  const hearing: Engine["accept"] = async (event, ...more) => {
    for (const { name, hear } of opened) if (event.by.platform === name) hear?.(event);
    const answer = await engine.accept(event, ...more);
    for (const { name, heard } of opened)
      if (event.by.platform === name && answer !== "again") heard?.(event);
    return answer;
  };
  const accept = (plant.accept ?? same)(hearing, within);
  return { life, absent: around.absent, engine, accept };
}

function logOf(machine: Machine, life: Life): Log {
  const write =
    (level: string) =>
    (message: string, fields?: object): void => {
      if (!life.dead)
        machine.note(
          "log",
          () => `${level} ${message} ${fields === undefined ? "" : JSON.stringify(fields)}`,
        );
    };
  return { debug: () => {}, info: write("info"), warn: write("warn"), error: write("error") };
}
