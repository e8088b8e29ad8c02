/** The composition root: it alone reads the environment and builds things. */
import { join } from "node:path";
import pino from "pino";
import { createAgentRunsClient } from "#agent-runs/client.ts";
import type { Log } from "#base/log.ts";
import type { GitHubConfig } from "#config/github.ts";
import { type ApiConfig, type Config, readConfig, secretsOf } from "#config/read-config.ts";
import type { SlackConfig } from "#config/slack.ts";
import { createDecide } from "#core/decide/decide.ts";
import { createEngine } from "#engine/engine.ts";
import { createGitHubReceiver } from "#github/receive/receive.ts";
import { createGitHubPlatform, type GitHubPlatform } from "#github/send/send.ts";
import { prepareFolder, whyNot } from "#process/folders.ts";
import { greeting } from "#process/greeting.ts";
import { keptKey, loadEnvironmentFile, readText, refuse, stopWhenTold } from "#process/life.ts";
import { createLog } from "#process/log.ts";
import { createSlackReceiver } from "#slack/receive/receive.ts";
import { createSlackPlatform } from "#slack/send/send.ts";
import { openStore } from "#store/open-store.ts";
import { removeOldThreads } from "#store/remove-old-threads.ts";
import { createMetrics } from "#web/metrics.ts";
import type { Check } from "#web/readiness.ts";
import type { Site } from "#web/router.ts";
import { createWeb } from "#web/server.ts";
import { statusRoutes, warnOfUnready } from "#web/status.ts";
import type { Accept, Clock } from "./ports.ts";

/** The message is a sentence that says what to do. */
class CannotStart extends Error {}

const clock: Clock = {
  now: Date.now,
  after(ms, then) {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

/** How often the platforms are asked what they told in vain. */
const catchUpIntervalMs = 5 * 60_000;

/** What the parts are given and add to while the bot is put together. */
interface Building {
  readonly log: Log;
  /** Those that come up on the way join it, so that none is logged. */
  readonly secrets: string[];
  /** Where the bot listens, for programs on this machine. */
  readonly url: string;
  readonly publicUrl: string;
  /** What is to be stopped, the last first. */
  readonly stops: AsyncDisposableStack;
  /** What begins to end as soon as the bot is to stop, so that nothing waits for one thing after the other. */
  readonly drains: (() => void)[];
  readonly routes: Record<string, Site["routes"][string]>;
  readonly mounts: Record<string, Site["mounts"][string]>;
}

/** Puts the bot together and starts it. If that fails, whatever was started is stopped again. */
async function startBot(
  config: Config,
  secrets: string[],
  log: Log,
): Promise<{ url: string; stop(): Promise<void> }> {
  await using stops = new AsyncDisposableStack();
  const store = await openStore({ dataDir: config.dataDir, log, now: clock.now });
  stops.defer(() => store.close());
  stops.defer(removeOldThreads({ store, clock, log }));

  const web = createWeb({ log });
  const listening = await web.listen(config);
  if (!listening.ok) throw new CannotStart(listening.problem);
  stops.defer(() => web.stop());
  const { url } = listening;
  const publicUrl = config.publicUrl ?? url;
  const building: Building = { log, secrets, url, publicUrl, stops, drains: [], routes: {}, mounts: {} };

  const api = config.api.kind === "remote" ? config.api : await startService(config.api, config, building);
  const client = createAgentRunsClient(api);
  const { slack, github } = isSandboxed(config) ? await openSandbox(config.dataDir, building) : config;
  const slackPlatform = slack && createSlackPlatform({ ...slack, log });
  const gitHubPlatform =
    github &&
    createGitHubPlatform({
      ...github,
      auth: github.credentials,
      log,
      now: clock.now,
      ...(config.publicUrl === null ? {} : { publicUrl: config.publicUrl }),
    });

  const engine = createEngine({
    store,
    agentRuns: client,
    transcripts: client,
    factories: client,
    platforms: [slackPlatform, gitHubPlatform].filter((platform) => platform !== null),
    decide: createDecide(config.rules),
    clock,
    log,
    runName: config.rules.runName,
    pollIntervalMs: config.pollIntervalMs,
    catchUp: { notes: store, intervalMs: catchUpIntervalMs },
    observe: (happening) => metrics.count(happening),
  });
  const metrics = createMetrics(() => engine.status());
  stops.defer(() => engine.stop());

  const startSlack = slack && receiveSlack(slack, engine.accept, building);
  if (github && gitHubPlatform) receiveGitHub(github, gitHubPlatform, engine.accept, building);
  const checks: Record<string, Check> = {
    store: () => store.writable(),
    api: () => client.list({ limit: 1, name: config.rules.runName }),
    ...(slackPlatform && { slack: () => slackPlatform.check() }),
    ...(gitHubPlatform && { github: () => gitHubPlatform.check() }),
  };
  const home = isSandboxed(config) ? "/sandbox" : "/readyz";
  web.open({
    routes: {
      ...building.routes,
      ...statusRoutes(checks, metrics.registry),
      "GET /": (_, response) => response.writeHead(302, { location: home }).end(),
    },
    mounts: building.mounts,
  });
  await engine.start();
  await startSlack?.();
  void warnOfUnready(checks, log);
  const running = stops.move();
  return {
    url,
    stop() {
      for (const drain of [web.drain, ...building.drains]) drain();
      return running.disposeAsync();
    },
  };
}

const isSandboxed = ({ slack, github }: Config): boolean => slack === null && github === null;

/** Answers how to begin to receive. */
function receiveSlack(
  config: SlackConfig,
  accept: Accept,
  { log, stops, routes }: Building,
): () => Promise<void> {
  const { receive, ...how } = config;
  const receiver = createSlackReceiver({ ...how, ...receive, accept, log, now: clock.now });
  stops.defer(() => receiver.stop());
  if (receiver.listener !== undefined) routes["POST /slack/events"] = receiver.listener;
  return () => receiver.start();
}

function receiveGitHub(
  { webhookSecret }: GitHubConfig,
  { identity, heard }: GitHubPlatform,
  accept: Accept,
  { log, routes }: Building,
): void {
  const receiver = createGitHubReceiver({ accept, log, webhookSecret, identity, heard });
  routes["POST /github/webhooks"] = receiver.listener;
}

/** The embedded service; the bot reaches it as any other, over HTTP and with a key. */
async function startService(
  config: Extract<ApiConfig, { kind: "embedded" }>,
  { dataDir, slack, github }: Config,
  { log, secrets, url, publicUrl, stops, drains, mounts }: Building,
): Promise<{ baseUrl: string; apiKey: string }> {
  const { basePath, createService } = await import("#service/service.ts");
  const apiKey = keptKey(join(dataDir, "embedded-service-key"));
  secrets.push(apiKey);
  const { command, workDir, maxRuns, timeoutMs, offer } = config;
  // The bot posts the link where everybody reads it, but only permitted people steer; nobody else sees a sandbox's.
  const usual = slack === null && github === null ? "steer" : "read";
  const service = createService({
    dataDir,
    apiKey,
    publicUrl: () => publicUrl,
    command: command ?? undefined,
    environment: process.env,
    workDir,
    maxRuns,
    timeoutMs,
    catalog: offer.catalog,
    sessionLinks: offer.sessionLinks ?? usual,
    ...offer.bounds,
    log,
  });
  stops.defer(() => service.stop());
  drains.push(service.drain);
  await service.start();
  mounts[basePath] = (request) => service.fetch(request);
  return { baseUrl: `${url}${basePath}`, apiKey };
}

/** The sandbox: a Slack and a GitHub for the ordinary adapters to talk to, and a page to use them on. */
async function openSandbox(
  dataDir: string,
  { log, secrets, url, publicUrl, stops, mounts }: Building,
): Promise<{ slack: SlackConfig; github: GitHubConfig }> {
  const { createSandbox, sandboxPath } = await import("#sandbox/sandbox.ts");
  const sandbox = await createSandbox({ dataDir, url, publicUrl, log });
  secrets.push(...sandbox.secrets);
  stops.defer(() => sandbox.stop());
  mounts[sandboxPath] = sandbox.fetch;
  return sandbox;
}

/** Reads the configuration, starts the bot and stops it when it is told to. */
async function main(): Promise<void> {
  loadEnvironmentFile();
  const reading = readConfig(process.env, readText);
  if (!reading.ok) return refuse([...reading.problems, ...reading.warnings]);
  const { config, warnings } = reading;
  const secrets = secretsOf(config);
  const log = createLog({ level: config.logLevel, secrets, to: pino.destination({ fd: 2, sync: true }) });
  for (const warning of warnings) log.warn(warning);
  const unfit =
    prepareFolder("DATA_DIR", config.dataDir) ??
    (config.api.kind === "embedded" ? prepareFolder("AGENT_WORK_DIR", config.api.workDir) : null);
  if (unfit !== null) return refuse([unfit]);

  const starting = startBot(config, secrets, log);
  stopWhenTold("The bot", starting, { log, byNpm: process.env.npm_lifecycle_event === "start" });
  try {
    const { url } = await starting;
    process.stdout.write(greeting(config, url));
    log.info("The bot has started", { url, pid: process.pid });
  } catch (error) {
    log.debug("The bot could not start", { error });
    refuse([whyNot("The bot", error)]);
  }
}

await main();
