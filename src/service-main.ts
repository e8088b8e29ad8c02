/** The standalone service's composition root: the API without the bot. */
import { join } from "node:path";
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Log } from "#base/log.ts";
import { readStandaloneConfig, type StandaloneConfig, standaloneSecrets } from "#config/standalone.ts";
import { keptKey } from "#process/life.ts";
import { run, type Started } from "#process/run.ts";
import { basePath, createService, type Service } from "#service/service.ts";
import { createWeb } from "#web/server.ts";
import { statusRoutes } from "#web/status.ts";

/** Starts the service. If that fails, everything already started is stopped. */
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
    // Only people with the key can see or share a link.
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
  const checkService = async (): Promise<void> => {
    const headers = { authorization: `Bearer ${apiKey}` };
    const asked = new Request(`${url}${basePath}/agent/runs?limit=1`, { headers });
    const { status } = await service.fetch(asked);
    if (status !== 200) throw new Error(`listing runs failed with status ${status}`);
  };
  web.open({
    routes: {
      ...statusRoutes({ service: checkService }, figuresOf(service)),
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
    help: "Runs that have not ended",
    registers: [registry],
    collect() {
      this.set(service.unfinished());
    },
  });
  return registry;
}

const keyFile = (dataDir: string): string => join(dataDir, "embedded-service-key");

/** The text that a started service prints; it never has the key itself. */
function greeting(
  { command, apiKey, dataDir, publicUrl }: StandaloneConfig,
  { url }: Pick<Started, "url">,
): string {
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

async function startWithKey(config: StandaloneConfig, secrets: string[], log: Log): Promise<Started> {
  let key = config.apiKey;
  if (key === null) {
    key = keptKey(keyFile(config.dataDir));
    secrets.push(key);
  }
  return start(config, key, log);
}

await run(
  {
    subject: "The service",
    script: "service",
    read: readStandaloneConfig,
    secretsOf: standaloneSecrets,
    foldersOf: ({ dataDir, workDir }) => ({ DATA_DIR: dataDir, AGENT_WORK_DIR: workDir }),
    start: startWithKey,
    greeting,
  },
  process.env,
);
