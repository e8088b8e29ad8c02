/** Stand-ins of Slack and GitHub, with the service and the bot as processes of their own. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SlackSnapshot } from "#sandbox/slack/workspace.ts";
import { secrets, startStandIns } from "#test/support/bot/stand-ins.ts";
import { startScript } from "#test/support/bot/start-script.ts";
import { type Child, startChild } from "#test/support/child.ts";
import { startServiceProcess } from "#test/support/service/start-service.ts";
import { startBadProxy } from "#test/support/worlds/bad-proxy.ts";
import type { BadWorld } from "#test/support/worlds/bad-world.ts";
import { badApi, badGitHub, badSlack } from "#test/support/worlds/behaviours.ts";
import { createApi } from "./api.ts";

const shiftedClock = join(import.meta.dirname, "../support/worlds/shifted-clock.mjs");

export const repo = "octo/app";

/** The bot is in `general`, `web` and `ops`, and not in `closed`; `mallory` is not on the list. */
const workspace: SlackSnapshot = {
  team: { id: "T0TOWN", name: "Town" },
  users: [
    ...["alice", "bob", "carol", "mallory"].map((name) => ({
      id: `U${name.toUpperCase()}`,
      name,
      bot: false,
    })),
    { id: "UBOT", name: "agent", bot: true },
  ],
  channels: ["general", "web", "ops", "closed"].map((name) => ({
    id: `C0${name.toUpperCase()}`,
    name,
    kind: "channel",
    members: [...["UALICE", "UBOB", "UCAROL", "UMALLORY"], ...(name === "closed" ? [] : ["UBOT"])],
    messages: [],
  })),
  ephemerals: {},
};

/** The bot's config file; `settling`: the settling time of every system, in seconds. */
const configOf = (settling: number): string => `
permissions: { slack: { people: [UALICE, UBOB, UCAROL] } }
limits: { paced: false, settling_seconds: { api: ${settling}, slack: ${settling}, github: ${settling} } }
`;

export interface TownOptions {
  /** The waits before Slack's repeated deliveries, in milliseconds. */
  readonly retryDelaysMs?: readonly number[];
  readonly maxRuns?: number;
  /** How the systems around the bot behave badly. */
  readonly world?: BadWorld;
  /** The bot's settling time for each of them, in seconds; 0 if absent, since the stand-ins show all at once. */
  readonly settlingSeconds?: number;
  /** Additions to the bot's environment. */
  readonly environment?: Readonly<Record<string, string>>;
}

export async function createTown(options: TownOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), "agent-runs-bot-kill-"));
  const configFile = join(folder, "bot.yaml");
  const begunLog = join(folder, "begun.log");
  const dataDir = join(folder, "data");
  writeFileSync(configFile, configOf(options.settlingSeconds ?? 0));
  writeFileSync(begunLog, "");
  let botUrl = "http://127.0.0.1:9";
  const standIns = await startStandIns({
    botUrl: () => botUrl,
    slack: {
      initial: workspace,
      retryDelaysMs: options.retryDelaysMs ?? [50, 200, 500, 1_000, 1_500, 2_000, 3_000, 3_000],
    },
    // A history of hours is told in minutes.
    github: { hourlyLimit: 100_000 },
  });
  const { slack, github } = standIns;

  const clockFile = join(folder, "clock");
  const steps = (options.world?.ownClock ?? []).map(({ afterMs, byMs }) =>
    setTimeout(() => writeFileSync(clockFile, String(byMs)), afterMs),
  );
  const { api = {}, slack: badly = {}, github: poorly = {} } = options.world ?? {};
  const { SLACK_API_URL = "", GITHUB_API_URL = "" } = standIns.environment;
  const proxies = [
    await startBadProxy(() => serviceUrl, badApi(api, Math.random), Math.random),
    await startBadProxy(() => new URL(SLACK_API_URL).origin, badSlack(badly), Math.random),
    await startBadProxy(() => GITHUB_API_URL, badGitHub(poorly), Math.random),
  ] as const;
  const [apiProxy, slackProxy, gitHubProxy] = proxies;
  let serviceUrl = "";
  let service: Child | null = null;
  let bot: Child | null = null;
  let botIsUp = false;
  const launched: Child[] = [];

  /** Starts the service on the port that it had before. */
  async function startService(): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      service = startServiceProcess(
        {
          folder,
          command: join(import.meta.dirname, "agent.sh"),
          apiKey: secrets.apiKey,
          environment: { PATH: process.env.PATH, KILL_LOG: begunLog },
          maxRuns: options.maxRuns ?? 8,
          graceMs: 200,
          port: serviceUrl === "" ? 0 : Number(new URL(serviceUrl).port),
        },
        { errorFile: join(folder, "service.log") },
      );
      try {
        serviceUrl = await service.url;
        return;
      } catch (error) {
        if (tries === 3) throw error;
      }
    }
  }

  const environment = (): Record<string, string> => ({
    ...standIns.environment,
    PORT: "0",
    DATA_DIR: dataDir,
    CONFIG_FILE: configFile,
    POLL_INTERVAL: "0.2",
    LOG_LEVEL: "info",
    AGENT_API_BASE_URL: `${options.world?.api ? apiProxy.url : serviceUrl}/api/v1`,
    AGENT_API_KEY: secrets.apiKey,
    ...(options.world?.slack ? { SLACK_API_URL: `${slackProxy.url}/api/` } : {}),
    ...(options.world?.github ? { GITHUB_API_URL: gitHubProxy.url } : {}),
    ...(options.world?.ownClock ? { CLOCK_FILE: clockFile, NODE_OPTIONS: `--import ${shiftedClock}` } : {}),
    ...options.environment,
  });

  /** Starts another bot on the same data; `limits` is put before its command, such as a shell that sets limits. */
  const launch = (limits: readonly string[] = [], log = "bot.log"): Child => {
    const [command = "", ...args] = [...limits, process.execPath, startScript];
    const child = startChild(args, {
      command,
      cwd: folder,
      env: environment(),
      errorFile: join(folder, log),
    });
    launched.push(child);
    return child;
  };

  return {
    folder,
    dataDir,
    begunLog,
    botLog: join(folder, "bot.log"),
    slack,
    github,
    api: createApi(() => serviceUrl),
    /** Number of writes that were performed and whose answer was lost. */
    lost: () => proxies.reduce((sum, proxy) => sum + proxy.lost(), 0),
    /** Whether the bot takes requests. */
    up: () => botIsUp && bot?.isOver() === false,
    botUrl: () => botUrl,
    launch,
    startService,
    killService: () => service?.end("SIGKILL"),
    /** Suspends the service; `freeService` resumes it. */
    holdService: () => service?.signal("SIGSTOP"),
    freeService: () => service?.signal("SIGCONT"),
    /** Starts the bot; `up` resolves with true once it takes requests, and with false if it ends before. */
    startBot(limits?: readonly string[]): { child: Child; up: Promise<boolean> } {
      const child = launch(limits);
      bot = child;
      const up = child.url.then(
        (url) => {
          botUrl = url;
          botIsUp = true;
          return true;
        },
        () => false,
      );
      return { child, up };
    },
    /** Ends the bot; resolves with its exit status or the signal. */
    endBot: (signal: "SIGTERM" | "SIGKILL") => {
      botIsUp = false;
      return bot?.end(signal) ?? Promise.resolve(null);
    },
    /** Ends all processes; `keep` leaves the folder for inspection. */
    async close(keep = false): Promise<void> {
      for (const child of launched) await child.end("SIGKILL");
      service?.signal("SIGCONT");
      await service?.end("SIGTERM");
      for (const step of steps) clearTimeout(step);
      for (const proxy of proxies) await proxy.close();
      await standIns.close();
      if (!keep) rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Town = Awaited<ReturnType<typeof createTown>>;
