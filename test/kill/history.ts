/** One history: people send requests, the bot is killed, all work is finished, and the visible result is judged. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { databaseName } from "#store/open-store.ts";
import { createDeeds, type Deed } from "#test/kill/deeds/deeds.ts";
import { createGitHubDeeds } from "#test/kill/deeds/github.ts";
import { createSlackDeeds } from "#test/kill/deeds/slack.ts";
import { judge } from "#test/kill/judge/judge.ts";
import { withoutTwins } from "#test/kill/judge/twins.ts";
import type { Violation, Wrong } from "#test/kill/judge/violation.ts";
import { createRandom } from "#test/simulation/story/random.ts";
import type { BadWorld } from "#test/support/worlds/bad-world.ts";
import { killAll, type Way } from "./killer.ts";
import { createLook } from "./look.ts";
import { lookFromOutside, type Outside } from "./outside.ts";
import { letPeopleAct } from "./people.ts";
import { untilQuiet, untilSettled } from "./quiet.ts";
import { createTown, type Town, type TownOptions } from "./town.ts";

export interface HistoryOptions extends Pick<TownOptions, "world" | "settlingSeconds"> {
  readonly seed: number;
  readonly requests: number;
  readonly kills: number;
  /** Kills of the service. */
  readonly serviceKills: number;
  /** The time limit for finishing all work. */
  readonly quietWithinMs: number;
  /** The time limit after that until no run is followed any more; 0 skips this wait. */
  readonly settleWithinMs: number;
  /** The bot counts as quiet after this long without work; if absent, 2 s: many ticks of the poller. */
  readonly quietMs?: number;
  readonly onKill?: (count: number, way: Way) => void;
}

export interface History {
  readonly violations: readonly Violation[];
  readonly deeds: readonly Deed[];
  /** Without twins. */
  readonly outside: Outside;
  /** Second runs of a dispatch that the bot ended soon. */
  readonly twins: number;
  /** Logs and data; removed unless a promise was broken. */
  readonly folder: string;
  /** Writes that were performed and whose answer was lost. */
  readonly lost: number;
}

export async function tellHistory(options: HistoryOptions): Promise<History> {
  const { seed, requests, kills, serviceKills, quietWithinMs, settleWithinMs, onKill = () => {} } = options;
  const town = await createTown(options);
  const violations: Violation[] = [];
  let failed = true;
  try {
    await town.startService();
    const warm = town.startBot();
    if (!(await warm.up)) throw new Error(`the bot did not start; see ${town.botLog}`);

    const deeds = createDeeds(createRandom(seed, "words"));
    const look = createLook(town);
    const people = {
      slack: createSlackDeeds(town, createRandom(seed, "slack"), deeds, look),
      github: createGitHubDeeds(town, createRandom(seed, "github"), deeds, look),
    };
    const acting = letPeopleAct(town, createRandom(seed, "people"), requests, people);
    const killing = killAll(
      town,
      createRandom(seed, "killer"),
      { people: acting, deeds },
      {
        requests,
        kills,
        serviceKills,
        onKill,
      },
    );
    await Promise.all([killing, acting.over]);

    const wrong: Wrong = (promise, what) => void violations.push({ promise, what });
    const lagMs = lagOf(options.world);
    const quiet = { withinMs: quietWithinMs, lagMs, quietMs: options.quietMs ?? 2_000 };
    let isQuiet = await untilQuiet(town, people, quiet);
    if (isQuiet && lagMs > 0) {
      // What the lists did not show yet at the last start is read back within minutes, or at the next start.
      await town.endBot("SIGTERM");
      // Later rounds read the same minutes again.
      const readBackMs = Date.now() - roundsOverlapMs;
      isQuiet = (await town.startBot().up) && (await untilQuiet(town, people, { ...quiet, readBackMs }));
    }
    if (!isQuiet) wrong("everything is done in the end", `it was not after ${quietWithinMs} ms`);
    // After a follow-up the bot polls an ended run for a few more minutes.
    if (settleWithinMs > 0 && !(await untilSettled(town, settleWithinMs))) {
      wrong("everything is settled in the end", `it was not after ${settleWithinMs} ms`);
    }
    await stopInOrder(town, settleWithinMs > 0, wrong);
    const everything = await lookFromOutside(town);
    const { outside, twins } = withoutTwins(everything);
    violations.push(...judge(deeds.all, outside, settleWithinMs > 0));
    await startOnceMore(town, everything, wrong);
    failed = violations.length > 0;
    if (failed) {
      const seen = { violations, deeds: deeds.all, ...outside, reactions: [...outside.reactions] };
      writeFileSync(join(town.folder, "outside.json"), JSON.stringify(seen, null, 1));
    }
    return { violations, deeds: deeds.all, outside, twins, folder: town.folder, lost: town.lost() };
  } finally {
    await town.close(failed);
  }
}

const lagOf = ({ api = {}, slack = {}, github = {} }: BadWorld = {}): number =>
  Math.max(
    ...[api.listLagMs, api.fetchLagMs, api.conversationLagMs, slack.listLagMs, github.listLagMs].map(
      (ms) => ms ?? 0,
    ),
  );

/** A round of reading Slack back begins so long before the last one. */
const roundsOverlapMs = 15 * 60_000;

async function stopInOrder(town: Town, isSettled: boolean, wrong: Wrong): Promise<void> {
  const status = await town.endBot("SIGTERM");
  if (status !== 0) wrong("a clean stop exits 0", `it exited with ${status}`);
  using database = new DatabaseSync(join(town.dataDir, databaseName), { readOnly: true });
  const unsettled = database.prepare("SELECT id FROM thread WHERE settled IS NULL").all();
  if (isSettled && unsettled.length > 0) {
    wrong("nothing unsettled is left", `${unsettled.length} threads are`);
  }
  for (const { id, reason } of database.prepare("SELECT id, reason FROM broken").all()) {
    wrong("the store is readable", `${String(id)} is not: ${String(reason)}`);
  }
  for (const { id, document } of database.prepare("SELECT id, document FROM thread").all()) {
    const thread = threadIn(String(document));
    if (thread === null) wrong("the store is readable", `${String(id)} is no thread`);
    else {
      // Watches for twins go on for an hour.
      const left = thread.effects
        .map(({ id: effect }) => effect)
        .filter((effect) => !effect.includes("/twin-"));
      if (left.length > 0 || thread.waiting.length > 0) {
        wrong("nothing unsettled is left", `${left.join()} in ${thread.id}`);
      }
    }
  }
}

const threadShape = z.looseObject({
  id: z.string(),
  effects: z.array(z.looseObject({ id: z.string() })),
  waiting: z.array(z.unknown()),
});

function threadIn(document: string): z.infer<typeof threadShape> | null {
  try {
    return threadShape.parse(JSON.parse(document));
  } catch {
    return null;
  }
}

/** A restart without unfinished work has no effect. */
async function startOnceMore(town: Town, before: Outside, wrong: Wrong): Promise<void> {
  if (!(await town.startBot().up)) return wrong("a restart is a non-event", "the bot did not start again");
  await sleep(1_000);
  const status = await town.endBot("SIGTERM");
  if (status !== 0) wrong("a clean stop exits 0", `it exited with ${status}`);
  const after = await lookFromOutside(town);
  for (const what of ["posts", "runs"] as const) {
    if (JSON.stringify(after[what]) !== JSON.stringify(before[what])) {
      wrong("a restart is a non-event", `the ${what} changed: ${before[what].length}, ${after[what].length}`);
    }
  }
}
