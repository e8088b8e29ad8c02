/** Assembles the bot from its parts and the given platforms. */
import { createAgentRunsClient } from "#agent-runs/client.ts";
import type { Log } from "#base/log.ts";
import { type Config, isSandboxed, readConfig, secretsOf } from "#config/read-config.ts";
import { createDecide } from "#core/decide/decide.ts";
import { toApi } from "#core/effect.ts";
import type { PlatformEvent } from "#core/event.ts";
import { createEngine } from "#engine/engine.ts";
import type { Accept, Clock, Given, OpenPlatform, PlatformKind, PlatformSettings } from "#ports.ts";
import { openStore } from "#store/open-store.ts";
import { removeOldThreads } from "#store/remove-old-threads.ts";
import { createMetrics } from "#web/metrics.ts";
import type { Check } from "#web/readiness.ts";
import type { Site } from "#web/router.ts";
import { createWeb } from "#web/server.ts";
import { statusRoutes, warnOfUnready } from "#web/status.ts";
import { type Building, loadService, openSandbox, startService } from "./embedded.ts";
import { greeting, notSetUp } from "./greeting.ts";
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
  elapsed: () => performance.now(),
  random: Math.random,
};

/** The embedded service shows at once what it did, unless this machine is very slow. */
const embeddedSettlingMs = 2_000;

/** The interval between searches for missed events. */
const catchUpIntervalMs = 5 * 60_000;

/** Starts the bot. If that fails, everything already started is stopped. */
async function start(config: Config, environment: Given, secrets: string[], log: Log): Promise<Started> {
  await using stops = new AsyncDisposableStack();
  const { api, rules, dataDir } = config;
  const sandboxed = isSandboxed(config.platforms);
  // Threads of real platforms must not be answered by the sandbox's: they wait until theirs are set up again.
  const name = sandboxed ? { name: "sandbox-threads.db" } : {};
  const store = await openStore({ dataDir, log, now: clock.now, ...name });
  stops.defer(() => store.close());
  stops.defer(removeOldThreads({ store, clock, log }));

  const accept: Accept<PlatformEvent> = (...given) => engine.accept(...given);
  const openAll = (settings: readonly PlatformSettings[]): Promise<OpenPlatform[]> =>
    Promise.all(settings.map((one) => one.open({ accept, log, clock, publicUrl: config.publicUrl })));
  // Loading the modules takes most of a start: before the port is open, no request has to wait for it.
  const connected = sandboxed
    ? []
    : await openAll(config.platforms.flatMap((platform) => platform.settings ?? []));
  if (api.kind === "embedded") await loadService();

  const web = createWeb({
    log,
    answerWithinMs: Object.assign({}, ...config.platforms.map(({ kind }) => kind.answerWithinMs)),
  });
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

  const client = createAgentRunsClient({
    ...(api.kind === "remote" ? api : await startService(api, building)),
    // The engine repeats what failed: it searches for a write first, and frees the slot meanwhile.
    retries: 0,
    onTry: (tried) => log.debug("A request to the Agent Runs API", { ...tried }),
  });
  const opened = sandboxed ? await openAll(await openSandbox(building)) : connected;
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
    limits: { settlingMs: settlingTimes(config), paced: config.isPaced },
    catchUp: { notes: store, intervalMs: catchUpIntervalMs, livelyMs: config.livelyMs },
    observe: (event) => metrics.count(event),
  });
  const metrics = createMetrics(() => engine.status());
  stops.defer(() => engine.stop());
  building.drains.push(engine.drain);
  for (const { stop } of opened) if (stop) stops.defer(stop);

  const checks: Record<string, Check> = {
    store: () => store.writable(),
    api: () => client.list({ limit: 1, name: rules.runName }),
    ...Object.fromEntries(platforms.map((platform) => [platform.name, () => platform.check()])),
  };
  const notes = (): Readonly<Record<string, string>> => {
    const { held, gaps } = engine.status();
    return Object.fromEntries([
      ...[...held].map(([name, count]) => [name, notSetUp(count)]),
      ...[...gaps].map(([name, sentences]) => [`${name}_missed`, sentences.join(" ")]),
    ]);
  };
  const home = sandboxed ? "/sandbox" : "/readyz";
  web.open({
    routes: {
      ...routesOf(opened),
      ...statusRoutes(checks, metrics.registry, notes),
      "GET /": (_, response) => response.writeHead(302, { location: home }).end(),
    },
    mounts: building.mounts,
  });
  await engine.start();
  await Promise.all(opened.map((platform) => platform.start?.()));
  void warnOfUnready(checks, log, notes());
  const running = stops.move();
  return {
    url,
    connecting: opened.flatMap(({ platform, connecting }) => (connecting?.() ? platform.name : [])),
    held: engine.status().held,
    gaps: engine.status().gaps,
    stop() {
      for (const drain of building.drains) drain();
      return running.disposeAsync();
    },
  };
}

const routesOf = (opened: readonly OpenPlatform[]): Site["routes"] =>
  Object.assign({}, ...opened.map(({ routes }) => routes));

/** Returns the settling times that differ from the systems' own. */
function settlingTimes({ api, platforms, settlingMs }: Config): Readonly<Record<string, number>> {
  const { api: ofApi = api.kind === "embedded" ? embeddedSettlingMs : undefined, ...ofPlatforms } =
    settlingMs;
  const inSandbox = isSandboxed(platforms) ? platforms.map(({ kind }) => [kind.name, 0]) : [];
  return {
    ...Object.fromEntries(inSandbox),
    ...ofPlatforms,
    ...(ofApi === undefined ? {} : { [toApi]: ofApi }),
  };
}
