/** A real adapter of the bot in the simulated world. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Log } from "#base/log.ts";
import type { PlatformEffect } from "#core/effect.ts";
import type { PersonEvent, PlatformEvent } from "#core/event.ts";
import type { Outcome } from "#core/outcome.ts";
import { createGitHubPlatform } from "#github/send/send.ts";
import type { Attempt, Clock, Missed, Platform } from "#ports.ts";
import { createSlackPlatform } from "#slack/send/send.ts";
import type { ChatPlatform } from "#test/simulation/world/chat.ts";
import type { Doubt, Life, Machine } from "#test/simulation/world/machine.ts";
import { GitHubApi } from "./github-api.ts";
import { SlackApi } from "./slack-api.ts";
import { type Cause, createFetch, type WireApi } from "./wire.ts";

/** Plants a defect in an adapter. */
export type PlantedFetch = (call: typeof fetch, platform: "slack" | "github") => typeof fetch;

/** The adapter of one process. */
export interface Adapter {
  perform(effect: PlatformEffect, attempt: Attempt, doubt: Doubt): Promise<Outcome>;
  missed(look: Missed): Promise<readonly PersonEvent[]>;
  readonly paces: NonNullable<Platform["paces"]>;
  /** Hears what is delivered, as the adapter's receiving side does. */
  hear(event: PlatformEvent): void;
  heard(event: PlatformEvent): void;
}

/** Returns the function that makes the platform's adapter for a process. */
export function adapterOf(
  machine: Machine,
  chat: ChatPlatform,
  planted: PlantedFetch,
): (life: Life) => Adapter {
  const api = chat.name === "slack" ? new SlackApi(machine, chat) : new GitHubApi(machine, chat);
  return (life) => open(machine, life, { api, planted });
}

function open(
  machine: Machine,
  life: Life,
  { api, planted }: { api: WireApi & Partial<Pick<GitHubApi, "deliveredAs">>; planted: PlantedFetch },
): Adapter {
  const causes = new AsyncLocalStorage<Cause>();
  const causeOf = (): Cause => causes.getStore() ?? { effect: null, doubt: { life, since: null } };
  const clock: Pick<Clock, "now" | "elapsed"> = {
    now: () => machine.clock("bot"),
    elapsed: () => machine.time.nowMs - life.bornAt,
  };
  const log = logOf(machine, api.name);
  const fetch = planted(createFetch(machine, life, api, causeOf), api.name);
  const address = `https://${api.name}.example`;
  const gitHub =
    api.name === "github"
      ? createGitHubPlatform({ auth: { token: "token" }, apiUrl: address, log, ...clock, fetch })
      : null;
  const platform: Platform =
    gitHub ?? createSlackPlatform({ botToken: "xoxb-1", apiUrl: `${address}/api/`, log, clock, fetch });
  return {
    perform: (effect, attempt, doubt) =>
      causes.run({ effect, doubt }, () => platform.perform(effect, attempt)),
    async missed(look) {
      const events = (await platform.missed?.(look)) ?? [];
      return events.flatMap((event) => (event.kind === "moved" ? [] : [api.deliveredAs?.(event) ?? event]));
    },
    paces: (effect) => platform.paces?.(effect) ?? [],
    hear: (event) => gitHub?.intake.learn(event),
    heard: (event) => gitHub?.intake.heard(event),
  };
}

function logOf(machine: Machine, name: string): Log {
  const write = (message: string, fields?: object): void =>
    machine.note(name, () => `log ${message} ${fields === undefined ? "" : JSON.stringify(fields)}`);
  return { debug: () => {}, info: write, warn: write, error: write };
}
