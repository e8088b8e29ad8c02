/** The composition root of the embedded service by itself: the API without the bot. */
import { join } from "node:path";
import pino from "pino";
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Log } from "#base/log.ts";
import { readStandaloneConfig, type StandaloneConfig, standaloneSecrets } from "#config/standalone.ts";
import { prepareFolder, whyNot } from "#process/folders.ts";
import { keptKey, loadEnvironmentFile, readText, refuse, stopWhenTold } from "#process/life.ts";
import { createLog } from "#process/log.ts";
import { basePath, createService, type Service } from "#service/service.ts";
import { createWeb } from "#web/server.ts";
import { statusRoutes } from "#web/status.ts";

interface Started {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts the service. If that fails, whatever was started is stopped again. */
async function start(config: StandaloneConfig, apiKey: string, log: Log): Promise<Started> {
  await using stops = new AsyncDisposableStack();
  const web = createWeb({ log });
  const listening = await web.listen(config);
  if (!listening.ok) throw new Error(listening.problem);
  stops.defer(() => web.stop());
  const { url } = listening;
  const { dataDir, command, workDir, maxRuns, timeoutMs, offer } = config;
  const service = createService({
    dataDir,
    apiKey,
    publicUrl: () => config.publicUrl ?? url,
    command: command ?? undefined,
    environment: process.env,
    catalog: offer.catalog,
    // Whoever is given a link here was given it by somebody who has the key.
    sessionLinks: offer.sessionLinks ?? "steer",
    ...offer.bounds,
    workDir,
    maxRuns,
    timeoutMs,
    log,
  });
  stops.defer(() => service.stop());
  await service.start();
  const running = stops.move();
  const answers = async (): Promise<void> => {
    const headers = { authorization: `Bearer ${apiKey}` };
    const asked = new Request(`${url}${basePath}/agent/runs?limit=1`, { headers });
    const { status } = await service.fetch(asked);
    if (status !== 200) throw new Error(`listing runs is answered with status ${status}`);
  };
  web.open({
    routes: {
      ...statusRoutes({ service: answers }, figuresOf(service)),
      "GET /": (_, response) => response.writeHead(302, { location: `${basePath}/docs` }).end(),
    },
    mounts: { [basePath]: (request) => service.fetch(request) },
  });
  return {
    url,
    stop() {
      web.drain();
      return running.disposeAsync();
    },
  };
}

function figuresOf(service: Service): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "agent_runs_service_unfinished_runs",
    help: "Runs that are queued or worked on",
    registers: [registry],
    collect() {
      this.set(service.unfinished());
    },
  });
  return registry;
}

const keyFile = (dataDir: string): string => join(dataDir, "embedded-service-key");

/** What people read once the service has started; never the key itself. */
function greeting({ command, apiKey, dataDir, publicUrl }: StandaloneConfig, url: string): string {
  const base = `${publicUrl ?? url}${basePath}`;
  const key = apiKey === null ? `$(cat '${keyFile(dataDir)}')` : "$AGENT_API_KEY";
  return [
    `The Agent Runs service listens at ${url}`,
    `  API      ${base}`,
    `  Docs     ${base}/docs`,
    `  Key      ${apiKey === null ? `kept in ${keyFile(dataDir)}` : "AGENT_API_KEY"}`,
    `  Agents   ${command === null ? "a demonstration; set AGENT_COMMAND" : "run on this machine, by AGENT_COMMAND"}`,
    `  Try      curl -H "Authorization: Bearer ${key}" -d '{"prompt": "Say hello"}' ${base}/agent/run`,
    "",
  ].join("\n");
}

async function main(): Promise<void> {
  loadEnvironmentFile();
  const reading = readStandaloneConfig(process.env, readText);
  if (!reading.ok) return refuse([...reading.problems, ...reading.warnings]);
  const { config, warnings } = reading;
  const secrets = standaloneSecrets(config);
  const log = createLog({ level: config.logLevel, secrets, to: pino.destination({ fd: 2, sync: true }) });
  for (const warning of warnings) log.warn(warning);
  const unfit = prepareFolder("DATA_DIR", config.dataDir) ?? prepareFolder("AGENT_WORK_DIR", config.workDir);
  if (unfit !== null) return refuse([unfit]);

  const starting = startWithKey(config, secrets, log);
  stopWhenTold("The service", starting, { log, byNpm: process.env.npm_lifecycle_event === "service" });
  try {
    const { url } = await starting;
    process.stdout.write(greeting(config, url));
    log.info("The service has started", { url, pid: process.pid });
  } catch (error) {
    log.debug("The service could not start", { error });
    refuse([whyNot("The service", error)]);
  }
}

async function startWithKey(config: StandaloneConfig, secrets: string[], log: Log): Promise<Started> {
  let key = config.apiKey;
  if (key === null) {
    key = keptKey(keyFile(config.dataDir));
    secrets.push(key);
  }
  return start(config, key, log);
}

await main();
