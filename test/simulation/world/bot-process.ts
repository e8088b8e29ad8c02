/** One process of the bot: the real core and the real engine on simulated ports. */

import type { Log } from "#base/log.ts";
import { createDecide, type Decide } from "#core/decide/decide.ts";
import type { Rules } from "#core/policy.ts";
import { createEngine, type Engine } from "#engine/engine.ts";
import type { AgentRuns, Factories, Platform, Store, Transcripts } from "#ports.ts";
import { createRandom } from "#test/simulation/story/random.ts";
import type { ChatPlatform } from "./chat.ts";
import type { Disk } from "./disk.ts";
import type { Life, Machine } from "./machine.ts";
import type { RunsService } from "./runs-service.ts";

export type Service = AgentRuns & Transcripts & Factories;

/** A defect planted on purpose: wrappers around the parts of the bot. */
export interface Plant {
  readonly decide?: (decide: Decide) => Decide;
  readonly store?: (store: Store, disk: Disk) => Store;
  readonly service?: (service: Service) => Service;
  readonly platform?: (platform: Platform, life: Life) => Platform;
  readonly accept?: (accept: Engine["accept"]) => Engine["accept"];
}

export interface Surroundings {
  readonly machine: Machine;
  readonly disk: Disk;
  readonly service: RunsService;
  readonly platforms: readonly ChatPlatform[];
  readonly rules: Rules;
  readonly plant: Plant;
}

export interface BotProcess {
  readonly life: Life;
  readonly engine: Engine;
  readonly accept: Engine["accept"];
}

const same = <T>(part: T): T => part;

export function createProcess(around: Surroundings): BotProcess {
  const { machine, disk, rules, plant } = around;
  const life = machine.newLife();
  const random = createRandom(machine.seed, `process ${life.number}`);
  const service = (plant.service ?? same)(around.service.open(life));
  const store = disk.open(life);
  const engine = createEngine({
    store: plant.store === undefined ? store : plant.store(store, disk),
    agentRuns: service,
    transcripts: service,
    factories: service,
    platforms: around.platforms.map((platform) => (plant.platform ?? same)(platform.open(life), life)),
    decide: (plant.decide ?? same)(createDecide(rules)),
    clock: {
      now: () => Math.floor(machine.time.nowMs + machine.time.skewMs),
      elapsed: () => machine.time.nowMs,
      random: random.next,
      after: (ms, then) =>
        machine.time.after(ms, () => {
          if (!life.dead) then();
        }),
    },
    log: logOf(machine, life),
    runName: rules.runName,
    pollIntervalMs: 2_000,
  });
  return { life, engine, accept: (plant.accept ?? same)(engine.accept) };
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
