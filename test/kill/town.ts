/** Where it all happens: stand-ins of Slack and GitHub, the service and the bot, each a process of its own. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { type Connection, createGitHubStandIn } from "#sandbox/github/stand-in.ts";
import { createSlackStandIn } from "#sandbox/slack/stand-in.ts";
import type { SlackSnapshot } from "#sandbox/slack/workspace.ts";
import { createApi } from "./api.ts";
import { type Child, startChild } from "./child.ts";

const root = join(import.meta.dirname, "../..");
export const signingSecret = "slack-signing-secret";
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

const config = "permissions: { slack: { people: [UALICE, UBOB, UCAROL] } }\n";

export interface TownOptions {
  /** The repetitions of Slack's events, milliseconds. */
  readonly retryDelaysMs?: readonly number[];
  readonly maxRuns?: number;
  /** More of the bot's environment. */
  readonly environment?: Readonly<Record<string, string>>;
}

export async function createTown(options: TownOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), "agent-runs-bot-kill-"));
  const configFile = join(folder, "bot.yaml");
  const begunLog = join(folder, "begun.log");
  const dataDir = join(folder, "data");
  writeFileSync(configFile, config);
  writeFileSync(begunLog, "");
  const closing: (() => unknown)[] = [];
  const listen = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener).listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  let botUrl = "http://127.0.0.1:9";
  const slack = createSlackStandIn({
    signingSecret,
    botToken: "xoxb-town",
    eventsUrl: () => `${botUrl}/slack/events`,
    initial: workspace,
    retryDelaysMs: options.retryDelaysMs ?? [50, 200, 500, 1_000, 1_500, 2_000, 3_000, 3_000],
  });
  closing.push(() => slack.close());
  slack.baseUrl = await listen(getRequestListener((request) => slack.fetch(request)));
  const github = createGitHubStandIn({
    webhookSecret: "github-webhook-secret",
    token: "ghp_town",
    webhookUrl: () => `${botUrl}/github/webhooks`,
  });
  const githubUrl = await listen(
    getRequestListener((request, connection) => github.fetch(request, connection as Connection)),
  );

  const cache = { NODE_COMPILE_CACHE: join(folder, "compiled") };
  const path = { PATH: process.env.PATH ?? "" };
  let serviceUrl = "";
  let service: Child | null = null;
  let bot: Child | null = null;
  let botIsUp = false;
  const launched: Child[] = [];

  /** On the port that it had before, as behind a fixed address. */
  async function startService(): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      const port = serviceUrl === "" ? "0" : new URL(serviceUrl).port;
      service = startChild({
        command: process.execPath,
        args: [join(import.meta.dirname, "service-process.ts"), folder, port, String(options.maxRuns ?? 8)],
        cwd: folder,
        env: { ...path, ...cache, KILL_LOG: begunLog },
        log: join(folder, "service.log"),
      });
      try {
        serviceUrl = await service.url;
        return;
      } catch (error) {
        if (tries === 3) throw error;
      }
    }
  }

  const environment = (): Record<string, string> => ({
    ...path,
    ...cache,
    PORT: "0",
    DATA_DIR: dataDir,
    CONFIG_FILE: configFile,
    POLL_INTERVAL: "0.2",
    LOG_LEVEL: "info",
    AGENT_API_BASE_URL: `${serviceUrl}/api/v1`,
    AGENT_API_KEY: "api-key-of-the-town",
    SLACK_BOT_TOKEN: "xoxb-town",
    SLACK_SIGNING_SECRET: signingSecret,
    SLACK_API_URL: `${slack.baseUrl}/api/`,
    GITHUB_TOKEN: "ghp_town",
    GITHUB_WEBHOOK_SECRET: "github-webhook-secret",
    GITHUB_API_URL: githubUrl,
    ...options.environment,
  });

  /** Another process of the bot on the same data; `limits` is the start of its command, such as a shell's. */
  const launch = (limits: readonly string[] = [], log = "bot.log"): Child => {
    const [command = "", ...args] = [...limits, process.execPath, join(root, "src/start.mjs")];
    const child = startChild({ command, args, cwd: folder, env: environment(), log: join(folder, log) });
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
    /** True from when it lets requests in until it is killed. */
    up: () => botIsUp && bot?.over() === false,
    botUrl: () => botUrl,
    launch,
    startService,
    killService: () => service?.end("SIGKILL"),
    /** Has the service stand still, and go on. */
    holdService: () => service?.signal("SIGSTOP"),
    freeService: () => service?.signal("SIGCONT"),
    /** Starts the bot; `up` resolves when it lets requests in, and with false if it ended before. */
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
    /** Ends everything; the folder stays if it is to be looked at. */
    async close(keep = false): Promise<void> {
      for (const child of launched) await child.end("SIGKILL");
      service?.signal("SIGCONT");
      await service?.end("SIGTERM");
      for (const close of closing) close();
      if (!keep) rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Town = Awaited<ReturnType<typeof createTown>>;
