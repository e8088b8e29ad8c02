/** People who send requests at the same time, at a pace at which most requests find the bot running. */
import { setTimeout as sleep } from "node:timers/promises";
import type { GitHubDeeds } from "#test/kill/deeds/github.ts";
import type { SlackDeeds } from "#test/kill/deeds/slack.ts";
import type { Random } from "#test/simulation/story/random.ts";
import type { Town } from "./town.ts";

const atOnce = 6;
/** The share of requests that wait while the bot is down; the others are sent, however long the bot takes to start. */
const patience = 0.7;
const breathMs = 60;

export interface People {
  /** The number of requests that were started. */
  readonly done: () => number;
  /** Resolves when the last one is answered. */
  readonly over: Promise<void>;
}

export function letPeopleAct(
  town: Town,
  random: Random,
  requests: number,
  { slack, github }: { readonly slack: SlackDeeds; readonly github: GitHubDeeds },
): People {
  let begun = 0;

  async function one(): Promise<void> {
    while (begun < requests) {
      await sleep(random.between(0, breathMs));
      const waits = random.chance(patience);
      while (waits && !town.up()) await sleep(breathMs);
      if (begun >= requests) return;
      begun += 1;
      await (random.chance(0.62) ? slack : github).act();
    }
  }

  return { done: () => begun, over: Promise.all(Array.from({ length: atOnce }, one)).then(() => undefined) };
}
