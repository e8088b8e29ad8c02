/**
 * The world of the stories: stand-ins of Slack and GitHub and an Agent Runs service on loopback, and the bot as
 * a process of its own between them, started as its users start it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import type { Connection } from "#sandbox/github/stand-in.ts";
import { createGitHubStandIn } from "#sandbox/github/stand-in.ts";
import { createSlackStandIn } from "#sandbox/slack/stand-in.ts";
import { createService } from "#service/service.ts";

const root = join(import.meta.dirname, "../../..");
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** One request that the bot sent to the API. */
export interface ApiCall {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** `before`: it is not carried out; `after`: it is, but the bot does not learn of it. */
export interface ApiFault {
  readonly method: string;
  readonly path: RegExp;
  readonly times?: number;
  readonly when: "before" | "after";
  /** An answer of that status instead; without it the connection is cut. */
  readonly status?: number;
  readonly body?: unknown;
}

export interface WorldOptions {
  readonly socketMode?: boolean;
  /** The script that starts the bot; `src/start.mjs` if absent. */
  readonly script?: string;
  /** More of the bot's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly maxRuns?: number;
  readonly timeoutMs?: number;
  /** As whom the bot comes to GitHub; `token` is the one that sees no webhooks. */
  readonly gitHubAuth?: "token" | "token that sees webhooks" | "app";
  /** Waits before Slack's repetitions of an event, in milliseconds. */
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
  const servers: Server[] = [];
  const serve = async (
    listener: Parameters<typeof createServer>[1],
  ): Promise<{ server: Server; url: string }> => {
    const server = createServer(listener ?? (() => {}));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    servers.push(server);
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  };
  let botUrl = "http://127.0.0.1:9";

  const slack = createSlackStandIn({
    signingSecret: "slack-signing-secret",
    botToken: "xoxb-story",
    ...(options.socketMode ? { appToken: "xapp-story" } : {}),
    eventsUrl: () => `${botUrl}/slack/events`,
    retryDelaysMs: options.slackRetryDelaysMs ?? [50, 200, 1_000, 2_000, 3_000, 3_000],
  });
  const slackServer = await serve(getRequestListener((request) => slack.fetch(request)));
  slack.baseUrl = slackServer.url;
  if (options.socketMode) slack.attachSocketMode(slackServer.server, "/socket");

  const { gitHubAuth = "token" } = options;
  let redeliveries = 0;
  const appKeys = gitHubAuth === "app" ? createAppKeys() : null;
  const github = createGitHubStandIn({
    webhookSecret: "github-webhook-secret",
    token: "ghp_story",
    webhookUrl: () => `${botUrl}/github/webhooks`,
    hooksAllowed: gitHubAuth === "token that sees webhooks",
    // The sooner it was asked for, the later it comes: the worst order there is.
    redeliveryDelayMs: () => Math.max(0, 500 - 50 * redeliveries++),
    ...(appKeys === null ? {} : { app: { ...app, publicKey: appKeys.publicKey } }),
  });
  const githubServer = await serve(
    getRequestListener((request, connection) => github.fetch(request, connection as Connection)),
  );

  const apiCalls: ApiCall[] = [];
  const apiFaults: { fault: ApiFault; left: number }[] = [];
  const service = createService({
    dataDir: join(folder, "api"),
    apiKey: "api-key-of-the-story",
    publicUrl: () => apiServer.url,
    command: join(import.meta.dirname, "agent.sh"),
    environment: { PATH: process.env.PATH },
    workDir: join(folder, "work"),
    maxRuns: options.maxRuns ?? 8,
    timeoutMs: options.timeoutMs ?? 60_000,
    graceMs: 200,
    log: silent,
  });
  const apiServer = await serve(
    getRequestListener(async (request, connection) => {
      const { pathname, search } = new URL(request.url);
      apiCalls.push({ method: request.method, path: pathname + search, body: await request.clone().text() });
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
  );
  await service.start();

  const dataDir = join(folder, "data");
  let child: ChildProcess | null = null;
  let log = "";

  const environment = (): Record<string, string> => ({
    PATH: process.env.PATH ?? "",
    PORT: "0",
    DATA_DIR: dataDir,
    POLL_INTERVAL: "0.1",
    LOG_LEVEL: "debug",
    AGENT_API_BASE_URL: `${apiServer.url}/api/v1`,
    AGENT_API_KEY: "api-key-of-the-story",
    SLACK_BOT_TOKEN: "xoxb-story",
    ...(options.socketMode
      ? { SLACK_APP_TOKEN: "xapp-story" }
      : { SLACK_SIGNING_SECRET: "slack-signing-secret" }),
    SLACK_API_URL: `${slackServer.url}/api/`,
    ...(appKeys === null
      ? { GITHUB_TOKEN: "ghp_story" }
      : { GITHUB_APP_ID: String(app.id), GITHUB_PRIVATE_KEY: appKeys.privateKey }),
    GITHUB_WEBHOOK_SECRET: "github-webhook-secret",
    GITHUB_API_URL: githubServer.url,
    ...options.environment,
  });

  async function start(): Promise<void> {
    const begin = log.length;
    const started = spawn(process.execPath, [options.script ?? join(root, "src/start.mjs")], {
      cwd: folder,
      env: environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    child = started;
    for (const stream of [started.stdout, started.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        log += text;
      });
    }
    const url = await eventually("the bot listens", () => {
      if (started.exitCode !== null) throw new Error(`the bot ended: ${log.slice(begin)}`);
      return /"url":"(http:[^"]+)"[^\n]*has started/.exec(log.slice(begin))?.[1];
    });
    botUrl = url;
    if (options.socketMode) await eventually("Socket Mode is connected", () => slack.connections > 0);
  }

  async function end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null> {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return null;
    const exited = once(child, "exit");
    child.kill(signal);
    const [code] = await exited;
    return code as number | null;
  }

  const channelOf = (name: string) => {
    const channel = slack.snapshot().channels.find((known) => known.name === name || known.id === name);
    if (channel === undefined) throw new Error(`no channel ${name}`);
    return channel;
  };

  return {
    slack,
    github,
    /** Under which name the bot comments on GitHub. */
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
        `${apiServer.url}/api/v1/agent/runs?limit=500&sort_by=created_at&sort_order=asc`,
        {
          headers: { authorization: "Bearer api-key-of-the-story" },
        },
      );
      return ((await response.json()) as { runs: [] }).runs;
    },
    /** A run that somebody else's job created; answers its id. */
    async createElsewhere(prompt: string): Promise<string> {
      const response = await fetch(`${apiServer.url}/api/v1/agent/runs`, {
        method: "POST",
        headers: { authorization: "Bearer api-key-of-the-story", "content-type": "application/json" },
        body: JSON.stringify({ prompt, config: { name: "nightly" } }),
      });
      return ((await response.json()) as { run_id: string }).run_id;
    },
    start,
    /** Ends the bot; answers its exit code. */
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
    log: () => log,
    botUrl: () => botUrl,
    channel: channelOf,
    /** The card of the newest thread in the channel, as its JSON. */
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
      await end("SIGTERM");
      slack.close();
      await service.stop();
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type World = Awaited<ReturnType<typeof createWorld>>;

/** Waits until the look succeeds and gives what it saw; fails loudly after a long while. */
export async function eventually<T>(what: string, look: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (let waited = 0; waited < 30_000; waited += 25) {
    const seen = await look();
    if (seen !== undefined && seen !== null && seen !== false) return seen as NonNullable<T>;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`this never came: ${what}`);
}

/** Everything written in a message, blocks included. */
export const written = (message: { readonly text: string; readonly blocks?: readonly unknown[] }): string =>
  `${message.text}\n${JSON.stringify(message.blocks ?? [])}`;
