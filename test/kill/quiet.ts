/** After the last kill: answers the runs' questions and waits until the bot has nothing left to do. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { isEnded } from "#core/run.ts";
import { databaseName } from "#store/open-store.ts";
import type { GitHubDeeds } from "#test/kill/deeds/github.ts";
import type { SlackDeeds } from "#test/kill/deeds/slack.ts";
import type { ListedRun } from "./api.ts";
import { lookFromOutside, type Outside, type SeenRun } from "./outside.ts";
import type { Town } from "./town.ts";

export interface Healing {
  readonly slack: SlackDeeds;
  readonly github: GitHubDeeds;
}

const lookMs = 250;
/** A run that is still blocked so long after an answer got none: the thread may have passed it on to a newer run. */
const unansweredMs = 20_000;
/** When the bot counts as quiet. */
export interface Quiet {
  readonly withinMs: number;
  readonly lagMs: number;
  /** It has had no work for so long, beside the world's lag. */
  readonly quietMs: number;
  /** Slack must be read back from before then, too, which takes several minutes; milliseconds since the epoch. */
  readonly readBackMs?: number;
}

/** Resolves with true when every run has ended and the bot has no work left; with false after the time limit. */
export async function untilQuiet(
  town: Town,
  people: Healing,
  { withinMs, lagMs, quietMs, readBackMs }: Quiet,
): Promise<boolean> {
  /** When each question was answered. */
  const answered = new Map<string, number>();
  const until = performance.now() + withinMs;
  const heard = Promise.all([town.slack.delivered(), town.github.idle()]);
  await Promise.race([heard, sleep(withinMs / 2, undefined, { ref: false })]);
  let quietSince = performance.now();
  while (performance.now() < until) {
    const runs = await town.api.runs();
    const questionOf = ({ run_id, updated_at }: ListedRun): string => `${run_id} ${updated_at}`;
    const blocked = runs.filter(({ state }) => state === "BLOCKED");
    const asking = blocked.filter((run) => !answered.has(questionOf(run)));
    for (const run of asking) answered.set(questionOf(run), performance.now());
    if (asking.length > 0) {
      const outside = await lookFromOutside(town);
      for (const run of outside.runs) {
        if (asking.some(({ run_id }) => run_id === run.run_id)) await answer(town, people, run, outside);
      }
    }
    for (const run of blocked) {
      const answeredAt = answered.get(questionOf(run)) ?? 0;
      if (performance.now() - answeredAt < unansweredMs + 4 * lagMs) continue;
      answered.set(questionOf(run), performance.now());
      await answerByApi(town, run);
    }
    const isBusy =
      !runs.every(({ state }) => isEnded(state)) ||
      (await figure(town, "pending_effects")) !== 0 ||
      (readBackMs !== undefined && unreadIn(town, readBackMs) > 0);
    if (isBusy) quietSince = performance.now();
    if (performance.now() - quietSince > quietMs + 2 * lagMs) return true;
    await sleep(lookMs);
  }
  return false;
}

/** Resolves with true when the bot no longer follows any run; with false after the time limit. */
export async function untilSettled(town: Town, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (performance.now() < until) {
    if ((await figure(town, "unsettled_threads")) === 0) return true;
    await sleep(lookMs);
  }
  return false;
}

/** Answers in the run's place if replies there go to this run, and through the API otherwise. */
async function answer(town: Town, people: Healing, run: SeenRun, { posts, runs }: Outside): Promise<void> {
  const cards = posts.filter(({ kind }) => kind === "card");
  const place = cards.find(({ cause }) => cause === run.dispatch)?.place;
  const here = cards.filter((card) => card.place === place).map(({ cause }) => cause);
  if (place === undefined || runs.findLast(({ dispatch }) => here.includes(dispatch)) !== run) {
    await answerByApi(town, run);
  } else if (place.startsWith("github:")) {
    await people.github.reply(Number(place.slice(place.indexOf("#") + 1)));
  } else {
    const [, , channel = "", ts = ""] = place.split(":");
    await people.slack.reply(channel, ts);
  }
}

const answerByApi = ({ api }: Town, { run_id }: ListedRun): Promise<unknown> =>
  api.followUp(run_id, "go on, do:quick");

const round = z.object({ unread: z.array(z.tuple([z.string(), z.object({ fromMs: z.number() })])) });

/** Returns the number of channels and threads in Slack that are still to be read back from before then. */
function unreadIn({ dataDir }: Town, beforeMs: number): number {
  using database = new DatabaseSync(join(dataDir, databaseName), { readOnly: true, timeout: 5_000 });
  const note = database.prepare("SELECT text FROM note WHERE name = 'kept-slack'").get();
  if (note === undefined) return 0;
  return round.parse(JSON.parse(String(note.text))).unread.filter(([, { fromMs }]) => fromMs < beforeMs)
    .length;
}

/** A figure from the bot's metrics; NaN if the bot does not answer. */
async function figure(town: Town, name: string): Promise<number> {
  try {
    const text = await (await fetch(`${town.botUrl()}/metrics`)).text();
    return Number(new RegExp(`^agent_runs_bot_${name} (\\d+)`, "m").exec(text)?.[1]);
  } catch {
    return Number.NaN;
  }
}
