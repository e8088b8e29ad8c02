/** The bot: puts its parts together around the platforms that it is given. */
import { join } from "node:path";
import { createAgentRunsClient } from "#agent-runs/client.ts";
import type { Log } from "#base/log.ts";
import { type ApiConfig, type Config, isSandboxed, readConfig, secretsOf } from "#config/read-config.ts";
import { createDecide } from "#core/decide/decide.ts";
import { createEngine } from "#engine/engine.ts";
import type { Accept, Clock, Given, OpenPlatform, PlatformKind, PlatformSettings } from "#ports.ts";
import { openStore } from "#store/open-store.ts";
import { removeOldThreads } from "#store/remove-old-threads.ts";
import { createMetrics } from "#web/metrics.ts";
import type { Check } from "#web/readiness.ts";
import type { Site } from "#web/router.ts";
import { createWeb } from "#web/server.ts";
import { statusRoutes, warnOfUnready } from "#web/status.ts";
import { greeting } from "./greeting.ts";
import { keptKey, readText } from "./life.ts";
import { type Program, run, type Started } from "./run.ts";

/** Runs the bot with these platforms until a signal stops it. */
export function runBot(platforms: readonly PlatformKind[], environment: Given): Promise<void> {
  const bot: Program<Config> = {
    subject: "The bot",
    script: "start",
    read: (given, readFile) => readConfig(given, readFile, platforms),
    secretsOf,
    foldersOf: ({ dataDir, api }) => ({
      DATA_DIR: dataDir,
      ...(api.kind === "embedded" && { AGENT_WORK_DIR: api.workDir }),
    }),
    start: (config, secrets, log) => start(config, environment, secrets, log),
    greeting,
  };
  return run(bot, environment);
}

const clock: Clock = {
  now: Date.now,
  after(ms, then) {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

/** How often the platforms are asked for missed events. */
const catchUpIntervalMs = 5 * 60_000;

/** What the parts are given and add to while the bot is put together. */
interface Building {
  readonly config: Config;
  readonly environment: Given;
  readonly log: Log;
  /** Secrets that come up on the way join it, so that none is logged. */
  readonly secrets: string[];
  /** Where the bot listens, for programs on this machine. */
  readonly url: string;
  readonly publicUrl: string;
  /** Stopped with the bot, the last first. */
  readonly stops: AsyncDisposableStack;
  /** Called as soon as the bot is to stop, so that what takes long to end begins at once. */
  readonly drains: (() => void)[];
  readonly mounts: Record<string, Site["mounts"][string]>;
}

/** Starts the bot. If it fails, all that was started is stopped again. */
async function start(config: Config, environment: Given, secrets: string[], log: Log): Promise<Started> {
  await using stops = new AsyncDisposableStack();
  const store = await openStore({ dataDir: config.dataDir, log, now: clock.now });
  stops.defer(() => store.close());
  stops.defer(removeOldThreads({ store, clock, log }));

  const web = createWeb({ log });
  const listening = await web.listen(config);
  if (!listening.ok) throw new Error(listening.problem);
  stops.defer(() => web.stop());
  const { url } = listening;
  const publicUrl = config.publicUrl ?? url;
  const building: Building = {
    config,
    environment,
    log,
    secrets,
    url,
    publicUrl,
    stops,
    drains: [web.drain],
    mounts: {},
  };

  const { api, rules } = config;
  const client = createAgentRunsClient(api.kind === "remote" ? api : await startService(api, building));
  const sandboxed = isSandboxed(config.platforms);
  const settings = sandboxed
    ? await openSandbox(building)
    : config.platforms.flatMap((platform) => platform.settings ?? []);
  const accept: Accept = (event) => engine.accept(event);
  const opened = await Promise.all(
    settings.map((one) => one.open({ accept, log, clock, publicUrl: config.publicUrl })),
  );
  const platforms = opened.map(({ platform }) => platform);
  const engine = createEngine({
    store,
    agentRuns: client,
    transcripts: client,
    factories: client,
    platforms,
    decide: createDecide(rules),
    clock,
    log,
    runName: rules.runName,
    pollIntervalMs: config.pollIntervalMs,
    catchUp: { notes: store, intervalMs: catchUpIntervalMs },
    observe: (happening) => metrics.count(happening),
  });
  const metrics = createMetrics(() => engine.status());
  stops.defer(() => engine.stop());
  for (const { stop } of opened) if (stop) stops.defer(stop);

  const checks: Record<string, Check> = {
    store: () => store.writable(),
    api: () => client.list({ limit: 1, name: rules.runName }),
    ...Object.fromEntries(platforms.map((platform) => [platform.name, () => platform.check()])),
  };
  const home = sandboxed ? "/sandbox" : "/readyz";
  web.open({
    routes: {
      ...routesOf(opened),
      ...statusRoutes(checks, metrics.registry),
      "GET /": (_, response) => response.writeHead(302, { location: home }).end(),
    },
    mounts: building.mounts,
  });
  await engine.start();
  await Promise.all(opened.map((platform) => platform.start?.()));
  void warnOfUnready(checks, log);
  const running = stops.move();
  return {
    url,
    stop() {
      for (const drain of building.drains) drain();
      return running.disposeAsync();
    },
  };
}

const routesOf = (opened: readonly OpenPlatform[]): Site["routes"] =>
  Object.assign({}, ...opened.map(({ routes }) => routes));

/** The embedded service. The bot reaches it as any other, over HTTP and with a key. */
async function startService(
  { command, workDir, maxRuns, timeoutMs, offer }: Extract<ApiConfig, { kind: "embedded" }>,
  { config, environment, log, secrets, url, publicUrl, stops, drains, mounts }: Building,
): Promise<{ baseUrl: string; apiKey: string }> {
  const { basePath, createService } = await import("#service/service.ts");
  const apiKey = keptKey(join(config.dataDir, "embedded-service-key"));
  secrets.push(apiKey);
  const ofPlatforms = config.platforms.flatMap(({ kind }) => kind.variables);
  const service = createService({
    dataDir: config.dataDir,
    apiKey,
    publicUrl: () => publicUrl,
    command: command ?? undefined,
    environment: Object.fromEntries(
      Object.entries(environment).filter(([name]) => !ofPlatforms.includes(name)),
    ),
    workDir,
    maxRuns,
    timeoutMs,
    catalog: offer.catalog,
    // Links are posted where everybody reads them, but only permitted people may steer. A sandbox has one reader.
    sessionLinks: offer.sessionLinks ?? (isSandboxed(config.platforms) ? "steer" : "read"),
    ...offer.bounds,
    log,
  });
  stops.defer(() => service.stop());
  drains.push(service.drain);
  await service.start();
  mounts[basePath] = (request) => service.fetch(request);
  return { baseUrl: `${url}${basePath}`, apiKey };
}

/** Opens the sandbox, and gives the settings of the platforms that it plays. */
async function openSandbox(building: Building): Promise<readonly PlatformSettings[]> {
  const { config, log, secrets, url, publicUrl, stops, mounts } = building;
  const { createSandbox, sandboxPath } = await import("#sandbox/sandbox.ts");
  const sandbox = await createSandbox({ dataDir: config.dataDir, url, publicUrl, log });
  stops.defer(() => sandbox.stop());
  mounts[sandboxPath] = sandbox.fetch;
  return config.platforms.flatMap(({ kind }) => {
    const { settings, problems } = kind.read(sandbox.environment, readText);
    if (problems.length > 0) throw new Error(problems.join(" "));
    secrets.push(...(settings?.secrets ?? []));
    return settings ?? [];
  });
}
