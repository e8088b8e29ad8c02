/**
 * The world of the scenarios: stand-ins of Slack and GitHub, an Agent Runs service, and the bot as a process of
 * its own, started as users start it.
 */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import type { TestContext } from "vitest";
import type { Connection } from "#sandbox/github/stand-in.ts";
import { createService } from "#service/service.ts";
import { type Child, startChild } from "#test/support/child.ts";
import { eventually } from "#test/support/eventually.ts";
import { listen } from "#test/support/listen.ts";
import { silentLog } from "#test/support/logs.ts";
import { secrets, startStandIns } from "./stand-ins.ts";
import { startScript } from "./start-script.ts";

/** One request that the bot sent to the API. */
export interface ApiCall {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** `before`: the request has no effect; `after`: it takes effect, but the bot gets no answer. */
export interface ApiFault {
  readonly method: string;
  readonly path: RegExp;
  readonly times?: number;
  readonly when: "before" | "after";
  /** The status of the answer; without it the connection is cut. */
  readonly status?: number;
  readonly body?: unknown;
}

export interface WorldOptions {
  readonly socketMode?: boolean;
  /** The script that starts the bot; `src/start.mjs` if absent. */
  readonly script?: string;
  /** Additions to the bot's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Additions to the bot's config file; the settling times are in seconds. */
  readonly config?: {
    readonly permissions?: Readonly<Record<string, { readonly people: readonly string[] }>>;
    readonly settling?: Readonly<Record<string, number>>;
  };
  readonly maxRuns?: number;
  readonly timeoutMs?: number;
  /** The bot's credentials on GitHub; a plain `token` can't see the repository's webhooks. */
  readonly gitHubAuth?: "token" | "token that sees webhooks" | "app";
  /** The waits before Slack's repeated deliveries of an event, in milliseconds. */
  readonly slackRetryDelaysMs?: readonly number[];
}

const app = { id: 4711, slug: "agent-runs-app" };

const createAppKeys = () =>
  generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });

export async function createWorld(options: WorldOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), "agent-runs-bot-story-"));
  let botUrl = "http://127.0.0.1:9";
  const { gitHubAuth = "token", socketMode = false } = options;
  let redeliveries = 0;
  const appKeys = gitHubAuth === "app" ? createAppKeys() : null;
  const standIns = await startStandIns({
    botUrl: () => botUrl,
    socketMode,
    slack: { retryDelaysMs: options.slackRetryDelaysMs ?? [50, 200, 1_000, 2_000, 3_000, 3_000] },
    github: {
      hooksAllowed: gitHubAuth === "token that sees webhooks",
      // Redeliveries arrive in the reverse order of their requests: the worst case.
      redeliveryDelayMs: () => Math.max(0, 500 - 50 * redeliveries++),
      ...(appKeys === null ? {} : { app: { ...app, publicKey: appKeys.publicKey } }),
    },
  });
  const { slack, github } = standIns;

  const apiCalls: ApiCall[] = [];
  const apiFaults: { fault: ApiFault; left: number }[] = [];
  const service = createService({
    dataDir: join(folder, "api"),
    apiKey: secrets.apiKey,
    publicUrl: () => api.url,
    command: join(import.meta.dirname, "agent.sh"),
    environment: { PATH: process.env.PATH },
    workDir: join(folder, "work"),
    maxRuns: options.maxRuns ?? 8,
    timeoutMs: options.timeoutMs ?? 60_000,
    graceMs: 200,
    log: silentLog,
  });
  const api = await listen(
    createServer(
      getRequestListener(async (request, connection) => {
        const { pathname, search } = new URL(request.url);
        apiCalls.push({
          method: request.method,
          path: pathname + search,
          body: await request.clone().text(),
        });
        const entry = apiFaults.find(
          ({ fault, left }) => left > 0 && fault.method === request.method && fault.path.test(pathname),
        );
        if (entry === undefined) return service.fetch(request);
        entry.left -= 1;
        if (entry.fault.when === "after") await service.fetch(request);
        const { status, body } = entry.fault;
        if (status !== undefined) return Response.json(body ?? {}, { status });
        (connection as Connection).incoming?.socket.destroy();
        return new Response(null);
      }),
    ),
  );
  await service.start();

  const dataDir = join(folder, "data");
  // The stand-ins show at once what they did.
  const configFile = join(folder, "bot.yaml");
  const { settling, ...config } = options.config ?? {};
  const settlingSeconds = { api: 1, slack: 1, github: 1, ...settling };
  writeFileSync(
    configFile,
    JSON.stringify({ ...config, limits: { paced: false, settling_seconds: settlingSeconds } }),
  );
  const started: Child[] = [];

  const environment = (): Record<string, string> => ({
    ...standIns.environment,
    PORT: "0",
    DATA_DIR: dataDir,
    CONFIG_FILE: configFile,
    POLL_INTERVAL: "0.2",
    LOG_LEVEL: "debug",
    AGENT_API_BASE_URL: `${api.url}/api/v1`,
    AGENT_API_KEY: secrets.apiKey,
    ...(appKeys === null
      ? {}
      : { GITHUB_TOKEN: "", GITHUB_APP_ID: String(app.id), GITHUB_PRIVATE_KEY: appKeys.privateKey }),
    ...options.environment,
  });

  async function start(): Promise<void> {
    const child = startChild([options.script ?? startScript], { cwd: folder, env: environment() });
    started.push(child);
    botUrl = await child.url;
    if (options.socketMode) await eventually("Socket Mode to connect", () => slack.connections > 0);
  }

  const bot = (): Child => {
    const child = started.at(-1);
    if (child === undefined) throw new Error("the bot was never started");
    return child;
  };

  const channelOf = (name: string) => {
    const channel = slack.snapshot().channels.find((known) => known.name === name || known.id === name);
    if (channel === undefined) throw new Error(`no channel ${name}`);
    return channel;
  };

  return {
    slack,
    github,
    /** The bot's login on GitHub. */
    gitHubLogin: appKeys === null ? "agent-runs-bot" : `${app.slug}[bot]`,
    dataDir,
    apiCalls: apiCalls as readonly ApiCall[],
    failApi: (fault: ApiFault): void => {
      apiFaults.push({ fault, left: fault.times ?? 1 });
    },
    /** Requests that would create a run. */
    creates: () => apiCalls.filter(({ method, path }) => method === "POST" && /\/agent\/runs?$/.test(path)),
    async runs(): Promise<
      { run_id: string; state: string; prompt: string; title: string; metadata?: object }[]
    > {
      const response = await fetch(
        `${api.url}/api/v1/agent/runs?limit=500&sort_by=created_at&sort_order=asc`,
        {
          headers: { authorization: `Bearer ${secrets.apiKey}` },
        },
      );
      return ((await response.json()) as { runs: [] }).runs;
    },
    /** Creates a run outside the bot and returns its id. */
    async createElsewhere(prompt: string): Promise<string> {
      const response = await fetch(`${api.url}/api/v1/agent/runs`, {
        method: "POST",
        headers: { authorization: `Bearer ${secrets.apiKey}`, "content-type": "application/json" },
        body: JSON.stringify({ prompt, config: { name: "nightly" } }),
      });
      return ((await response.json()) as { run_id: string }).run_id;
    },
    start,
    /** Ends the bot and resolves with its exit status. */
    stop: () => bot().end("SIGTERM"),
    kill: () => bot().end("SIGKILL"),
    /** The id of the bot's process; throws if it is not running. */
    pid: (): number => {
      if (bot().isOver()) throw new Error("the bot is not running");
      return bot().pid;
    },
    /** The output of all of the bot's processes so far. */
    log: () => started.map(({ stdout, stderr }) => stdout() + stderr()).join(""),
    botUrl: () => botUrl,
    channel: channelOf,
    /** The bot's cards in the channel, oldest first. */
    cards: (name: string) =>
      channelOf(name).messages.filter(
        (message) =>
          (message.user === "UBOT" && message.thread_ts === undefined) ||
          (message.thread_ts === message.ts && message.user === "UBOT"),
      ),
    thread: (name: string, ts: string) =>
      channelOf(name).messages.filter((message) => message.thread_ts === ts || message.ts === ts),
    told: (user: string) => slack.snapshot().ephemerals[user] ?? [],
    comments: (issue: number) => github.snapshot().comments.filter((comment) => comment.issue === issue),
    labels: (issue: number) => github.snapshot().issues.find(({ number }) => number === issue)?.labels ?? [],
    async close(): Promise<void> {
      await started.at(-1)?.end("SIGTERM");
      await standIns.close();
      await service.stop();
      await api.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type World = Awaited<ReturnType<typeof createWorld>>;

/** A world with its bot started; closed when the test ends. */
export async function startWorld(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  options: WorldOptions = {},
): Promise<World> {
  const world = await createWorld(options);
  onTestFinished(() => world.close());
  await world.start();
  return world;
}

/** Returns all text of a message, blocks included. */
export const written = (message: { readonly text: string; readonly blocks?: readonly unknown[] }): string =>
  `${message.text}\n${JSON.stringify(message.blocks ?? [])}`;
