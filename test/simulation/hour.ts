/** Simulates an hour in which one system is down and everything else works as usual. */
import { toApi } from "#core/effect.ts";
import type { View } from "#core/view.ts";
import type { EngineStatus } from "#engine/engine.ts";
import { firstByDestination, systemOf } from "#engine/perform/destination.ts";
import { judge } from "#test/simulation/judge/judge.ts";
import { rest } from "#test/simulation/story/history.ts";
import { actsUntilMs, downFromMs, downToMs, HourPeople } from "#test/simulation/story/hour-people.ts";
import { type Milestone, milestones } from "#test/simulation/story/milestones.ts";
import { createRandom, randomOf } from "#test/simulation/story/random.ts";
import type { Script } from "#test/simulation/story/script.ts";
import type { Plant } from "#test/simulation/world/bot-process.ts";
import { headline } from "#test/simulation/world/chat.ts";
import type { System } from "#test/simulation/world/clocks.ts";
import { type Deed, Deliveries } from "#test/simulation/world/deliveries.ts";
import { workIn } from "#test/simulation/world/documents.ts";
import type { Violation } from "#test/simulation/world/machine.ts";
import { isOver, type SimulatedRun } from "#test/simulation/world/service/simulated-run.ts";
import { calmTroubles } from "#test/simulation/world/troubles.ts";
import type { Fate, Weather } from "#test/simulation/world/weather.ts";
import { World } from "#test/simulation/world/world.ts";
import { Counts } from "./counts.ts";

/**
 * The ways in which a system fails; several fates take turns, a minute each. `garbles`: the request takes
 * effect and the answer is malformed. `crawls`: the answer comes just before the client's time-out.
 */
const fates = {
  refuses: ["unreached"],
  fails: ["failed"],
  "talks nonsense": ["nonsense"],
  garbles: ["garbled"],
  hangs: ["timed-out"],
  crawls: ["slow"],
  "is sick in turns": [
    "unreached",
    "failed",
    "garbled",
    "limited",
    "timed-out",
    "lost-after",
    "nonsense",
    "slow",
  ],
} as const satisfies Record<string, readonly Fate[]>;
export type Sickness = keyof typeof fates;
const isSickness = (name: string): name is Sickness => Object.hasOwn(fates, name);
export const sicknesses = Object.keys(fates).filter(isSickness);

export const systems = [toApi, "slack", "github"] as const satisfies readonly System[];

export interface Outage {
  readonly system: System;
  readonly sickness: Sickness;
}

export interface Hour {
  readonly violations: readonly Violation[];
  readonly lines: readonly string[];
  readonly deeds: readonly Deed[];
  /** When each result of people's actions came, by a name that is the same with and without an outage. */
  readonly milestones: ReadonlyMap<Milestone, number>;
  /** Runs that ended or blocked while the system was down. */
  readonly endedMeanwhile: number;
  readonly requests: readonly { readonly system: System; readonly atMs: number }[];
  /** When each sweep began, in milliseconds from the start. */
  readonly sweptAt: readonly number[];
  /** The most effects of each kind that were under way at once. */
  readonly mostAtOnce: ReadonlyMap<string, number>;
  /** Dispatches whose card showed a delay. */
  readonly waited: ReadonlySet<string>;
  /** Dispatches whose place showed neither the run's state nor a delay, although there was enough time. */
  readonly silent: readonly string[];
  /** The work that is left when the hour is over. */
  readonly atReturn: {
    readonly status: EngineStatus | undefined;
    /** Pending effects of each system, and those that are next in their lane. */
    readonly pending: ReadonlyMap<System, { readonly effects: number; readonly firsts: number }>;
  };
  /** Effects from before the system's return that are still pending a while after it. */
  readonly overdue: readonly string[];
  readonly statusAfter: EngineStatus | undefined;
}

const minute = 60_000;
/** Enough for two tries, the wait between them, and the delay of a rush. */
const sayWithinMs: Readonly<Record<Sickness, number>> = {
  refuses: 20_000,
  fails: 20_000,
  "talks nonsense": 20_000,
  garbles: 20_000,
  hangs: 5 * minute,
  crawls: 4 * minute,
  "is sick in turns": 3 * minute,
};
/** Enough for a follow-up in doubt, which is looked for during ten minutes, and the next try. */
const deliverWithinMs = 13 * minute;

const weather: Weather = {
  ...calmTroubles,
  clocks: { ...calmTroubles.clocks, "agent-runs": { ...calmTroubles.clocks["agent-runs"], skewMs: 20_000 } },
  calm: true,
  actsMs: actsUntilMs,
  acts: 0,
  faultRate: 0,
  hangShare: 0,
  refusalRate: 0,
  outages: [],
  diskFaultRate: 0,
  diskFull: null,
  slowestWriteMs: 20,
  crashSteps: new Set(),
  stopsAt: [],
  duplicateRate: 0.2,
  lateDuplicateRate: 0,
  slowestDeliveryMs: 200,
  pageSize: 50,
  ignoredFilters: new Set(),
};

export async function tellHour(
  seed: number,
  outage: Outage | null,
  {
    plant = {},
    recording = false,
    killed = false,
  }: {
    readonly plant?: Plant;
    readonly recording?: boolean;
    /** In the middle of the hour, just after the rush. */
    readonly killed?: boolean;
  } = {},
): Promise<Hour> {
  const requests: { system: System; atMs: number }[] = [];
  const script: Script = {
    weather: { ...weather, calm: outage === null },
    evenly: randomOf(() => 0.5),
    lifeOf: (dispatch) => createRandom(seed, `life of ${dispatch}`),
    fate(system, atMs) {
      if (outage?.system !== system || atMs < downFromMs || atMs >= downToMs) return "ok";
      const kinds = fates[outage.sickness];
      return kinds[Math.floor(atMs / minute) % kinds.length] ?? "ok";
    },
    onRequest(system, atMs) {
      requests.push({ system, atMs });
    },
  };
  const counts = new Counts(() => machine.sinceStart());
  const { service: countCalls, platform: countEffects } = counts;
  const counting: Plant = {
    ...plant,
    service: (service, around) => countCalls(plant.service?.(service, around) ?? service),
    platform: (platform, life, around) =>
      countEffects(plant.platform?.(platform, life, around) ?? platform, life, around),
  };
  const world = new World(seed, { plant: counting, recording, script });
  const { machine, disk, service } = world;
  const { time } = machine;
  const passUntil = (ms: number): Promise<boolean> => time.pass(ms - machine.sinceStart());
  const deliveries = new Deliveries(world);
  new HourPeople(world, deliveries).prepare();
  const silent = new Set<string>();
  const waited = new Set<string>();
  const listen = (): void => {
    for (const id of silentOnes(world, deliveries.deeds, outage)) silent.add(id);
    for (const { dispatch, view } of [...world.slack.posted, ...world.github.posted]) {
      if (dispatch !== null && saysThatItWaits(view)) waited.add(dispatch);
    }
    if (machine.sinceStart() < downToMs - minute) time.after(minute / 2, listen);
  };
  time.after(downFromMs, listen);

  if (killed) time.after(downFromMs + 31 * minute, () => world.crash("is killed"));

  world.start();
  await passUntil(downToMs - 1);
  const atReturn = { status: world.process?.engine.status(), pending: pendingOf(world) };
  await passUntil(downToMs + deliverWithinMs);
  const overdue = [...disk.threads.values()].flatMap((thread) =>
    workIn(thread)
      .filter(({ since }) => Date.parse(since) < time.startMs + downToMs)
      .map(({ id }) => id),
  );
  const statusAfter = world.process?.engine.status();
  await passUntil(actsUntilMs + 15 * minute);
  world.heal();
  service.heal(true);
  await rest(world, deliveries);
  judge(world, deliveries.deeds);
  const endedInTheHour = ({ words }: SimulatedRun): boolean =>
    words.some(({ at, run: { state } }) => {
      const atMs = at - time.startMs;
      return (isOver(state) || state === "BLOCKED") && atMs > downFromMs && atMs < downToMs;
    });
  if (world.process !== null) machine.kill(world.process.life);
  return {
    violations: machine.violations,
    lines: machine.lines ?? [],
    deeds: deliveries.deeds,
    milestones: milestones(world, deliveries.deeds),
    endedMeanwhile: [...service.runs.values()].filter(endedInTheHour).length,
    requests,
    sweptAt: counts.sweptAt,
    mostAtOnce: counts.mostAtOnce,
    waited,
    silent: [...silent],
    atReturn,
    overdue,
    statusAfter,
  };
}

const saysThatItWaits = ({ details }: View): boolean => JSON.stringify(details).includes("Waiting: ");

function silentOnes(world: World, deeds: readonly Deed[], outage: Outage | null): readonly string[] {
  const { nowMs } = world.machine.time;
  const heard = nowMs - sayWithinMs[outage?.sickness ?? "refuses"];
  const silent = deeds.filter(({ event, intent, ackedAt }) => {
    if (intent !== "dispatch" || ackedAt === null || ackedAt > heard) return false;
    const platform = event.by.platform === "slack" ? world.slack : world.github;
    if (outage?.system === platform.name) return false;
    const card = platform.posted.find(({ kind, dispatch }) => kind === "card" && dispatch === event.id);
    if (card === undefined) return true;
    return headline(card.view) === "Starting" && !saysThatItWaits(card.view);
  });
  return [...silent.map(({ event }) => event.id), ...silentCards(world, outage, heard)];
}

/** Runs with a follow-up or a cancellation that failed and whose card does not say that it waits. */
function silentCards({ disk, slack, github }: World, outage: Outage | null, heardMs: number): string[] {
  return [...disk.threads.values()].flatMap(({ places, effects }) => {
    if (places.some((place) => outage?.system === place.slice(0, place.indexOf(":")))) return [];
    return effects.flatMap((effect) => {
      if (effect.kind !== "follow-up" && effect.kind !== "cancel") return [];
      if (effect.tries === 0 || Date.parse(effect.since) > heardMs) return [];
      const cards = [...slack.posted, ...github.posted].filter(
        ({ kind, dispatch }) => kind === "card" && dispatch === effect.dispatch,
      );
      return cards.some(({ view }) => saysThatItWaits(view)) ? [] : [effect.id];
    });
  });
}

function pendingOf({ disk }: World): Hour["atReturn"]["pending"] {
  const pending = new Map<System, { effects: number; firsts: number }>();
  for (const system of systems) {
    const count = { effects: 0, firsts: 0 };
    for (const { effects } of disk.threads.values()) {
      count.effects += effects.filter((effect) => systemOf(effect) === system).length;
      const firsts = [...firstByDestination(effects).values()];
      count.firsts += firsts.filter((effect) => systemOf(effect) === system).length;
    }
    pending.set(system, count);
  }
  return pending;
}
