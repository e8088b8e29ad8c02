/**
 * Simulates one history from its seed: people, platforms and machine. Then the world heals, and it is judged.
 */
import { createHash } from "node:crypto";
import { judge } from "#test/simulation/judge/judge.ts";
import type { Plant } from "#test/simulation/world/bot-process.ts";
import { Deliveries } from "#test/simulation/world/deliveries.ts";
import { isAtRest, workIn } from "#test/simulation/world/documents.ts";
import type { Violation } from "#test/simulation/world/machine.ts";
import { isOver, isWaiting, wordOn } from "#test/simulation/world/service/simulated-run.ts";
import type { Feature } from "#test/simulation/world/troubles.ts";
import type { Weather } from "#test/simulation/world/weather.ts";
import { World } from "#test/simulation/world/world.ts";
import { People } from "./people.ts";
import { createRandom } from "./random.ts";

export interface History {
  readonly seed: number;
  readonly violations: readonly Violation[];
  /** The log of the history; empty if it was not recorded. */
  readonly lines: readonly string[];
  /** Number of simulated steps. */
  readonly happened: number;
  readonly passedMs: number;
}

const minute = 60_000;
/** Longer than any wait of the bot, even with a clock that was set back. */
const patienceMs = 12 * 60 * minute;
const mostHappenings = 60_000;

export async function tell(
  seed: number,
  options: {
    readonly plant?: Plant;
    readonly recording?: boolean;
    /** With outages that last about an hour. */
    readonly hours?: boolean;
    /** The troubles that it may have; the usual ones if absent. */
    readonly features?: ReadonlySet<Feature>;
    /** Takes the place of the weather that is drawn. */
    readonly weather?: Partial<Weather>;
  } = {},
): Promise<History> {
  const world = new World(seed, options);
  const { machine } = world;
  const { time, weather } = machine;
  const deliveries = new Deliveries(world);
  prepare(world, deliveries);
  world.start();
  await time.pass(weather.actsMs + minute);

  world.heal();
  if (weather.judgesDelays) expectWorkDone(world);
  // While a late delivery is hours away, a run that waits for people would be polled all the time.
  world.service.heal(deliveries.underWay === 0);
  await rest(world, deliveries);
  judge(world, deliveries.deeds);
  const running = world.process;
  if (running !== null) machine.kill(running.life);
  return {
    seed,
    violations: machine.violations,
    lines: machine.lines ?? [],
    happened: time.happened,
    passedMs: time.nowMs - time.startMs,
  };
}

/** Longer than the longest wait between two tries, a try that hangs, a restart, and one doubt. */
const promptMs = 20 * minute;
/** How long a follow-up in doubt may hold up the next one to its run, which may not say when it heard it. */
const doubtMs = 11 * minute;

/** Judges that the work that waits when the world heals is done soon, whatever the clocks showed when it was put off. */
function expectWorkDone(world: World): void {
  const { machine, disk } = world;
  // A process that is away for long does nothing meanwhile.
  if (world.process === null) return void machine.time.after(minute, () => expectWorkDone(world));
  for (const thread of disk.threads.values()) {
    let promptlyMs = promptMs;
    for (const { id, kind, to } of workIn(thread)) {
      const isInLine = to === "agent-runs";
      machine.time.after(isInLine ? promptlyMs : promptMs, () => {
        const now = disk.threads.get(thread.id);
        if (now && workIn(now).some((work) => work.id === id))
          machine.violated("work is done soon", `${id} still waits`);
      });
      if (isInLine && kind === "follow-up") promptlyMs += doubtMs;
    }
  }
}

/** Lets time pass until nothing is left to do. */
export async function rest(world: World, deliveries: Deliveries): Promise<void> {
  const { machine } = world;
  const { time } = machine;
  const isQuiet = (): boolean => deliveries.underWay === 0 && hasSettled(world);
  const limit = time.nowMs + patienceMs;
  while (time.nowMs < limit && time.happened < mostHappenings) {
    await time.pass(limit - time.nowMs, () => time.happened > mostHappenings || isQuiet());
    // Any further work of the bot would be a repetition.
    await time.pass(3 * minute + 2 * (machine.weather.catchUpMs ?? 0));
    if (isQuiet()) break;
  }
  if (!isQuiet()) machine.violated("the bot comes to rest", unrest(world));
}

/** Schedules the history's events. */
function prepare(world: World, deliveries: Deliveries): void {
  const { machine, service } = world;
  const { time, weather, seed } = machine;
  const random = createRandom(seed, "plot");
  const people = new People(world, deliveries);
  for (let count = random.whole(0, 2); count > 0; count -= 1) {
    const name = random.pick(["nightly", "nightly", null]);
    time.after(random.between(0, weather.actsMs / 2), () => {
      service.add({ prompt: "asked for elsewhere", title: "nightly" }, name);
    });
  }
  for (let count = 0; count < weather.acts; count += 1) {
    time.after(random.between(100, weather.actsMs), () => people.act());
  }
  world.onAway = (ms) => {
    for (let count = 0; count < 3; count += 1) time.after(random.between(0, ms), () => people.act());
  };
  for (const ms of weather.stopsAt) time.after(ms, () => world.stop());
  for (const [whose, { steps }] of Object.entries(weather.clocks)) {
    for (const { atMs, byMs } of steps) {
      time.after(atMs, () => machine.note("clock", () => `of ${whose} jumps by ${byMs / 1_000} s`));
    }
  }
  for (let count = 0; count < weather.crowd; count += 1) {
    service.addToCrowd(world.rules.runName, random.between(-weather.crowdSinceMs, weather.actsMs));
  }
}

/** True if nothing is left to do, except for runs that wait for people. */
function hasSettled({ disk, service, process }: World): boolean {
  if (process === null) return false;
  for (const run of service.runs.values()) {
    const { state } = wordOn(run);
    if (!isOver(state) && !isWaiting(state)) return false;
  }
  for (const thread of disk.threads.values()) {
    if (isAtRest(thread)) continue;
    if (thread.effects.length > 0 || thread.waiting.length > 0) return false;
    for (const record of thread.runs) {
      if (!record.open) continue;
      const run = record.runId === null ? undefined : service.runs.get(record.runId);
      if (run === undefined || isOver(wordOn(run).state)) return false;
      if (record.run?.updated_at !== wordOn(run).updated_at) return false;
    }
  }
  return true;
}

function unrest({ disk, process }: World): string {
  if (process === null) return "no process is running";
  const parts: string[] = [];
  for (const thread of disk.threads.values()) {
    if (isAtRest(thread)) continue;
    const effects = thread.effects.map(({ id, tries }) => `${id} (${tries} tries)`);
    const open = thread.runs.filter((record) => record.open).map((record) => record.runId ?? record.dispatch);
    parts.push(
      `${thread.id}: effects ${effects.join(", ") || "none"}; waiting ${thread.waiting.length}; open ${open}`,
    );
  }
  return parts.join(" | ") || "deliveries or runs go on";
}

/** A hash of everything that happened. */
export const fingerprint = (history: History): string =>
  createHash("sha256").update(history.lines.join("\n")).digest("hex");
