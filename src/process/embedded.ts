/** The bot's built-in parts: the Agent Runs service and the sandbox. */
import { join } from "node:path";
import type { Log } from "#base/log.ts";
import type { ApiConfig } from "#config/api.ts";
import { type Config, isSandboxed } from "#config/read-config.ts";
import type { Given, PlatformSettings } from "#ports.ts";
import type { Site } from "#web/router.ts";
import { keptKey, readText } from "./life.ts";

/** Passed to the built-in parts, which add to its lists. */
export interface Building {
  readonly config: Config;
  readonly environment: Given;
  readonly log: Log;
  /** Values that the log redacts. */
  readonly secrets: string[];
  /** Where the bot listens, for programs on this machine. */
  readonly url: string;
  readonly publicUrl: string;
  /** Run when the bot stops, the last first. */
  readonly stops: AsyncDisposableStack;
  /** Called when the bot begins to stop, so that slow parts begin to end at once. */
  readonly drains: (() => void)[];
  readonly mounts: Record<string, Site["mounts"][string]>;
}

/** Loads the embedded service's modules, which a bot with another API does not need. */
export const loadService = () => import("#service/service.ts");

/** Starts the embedded service. The bot uses it like a remote one, over HTTP and with a key. */
export async function startService(
  { command, workDir, maxRuns, timeoutMs, offer }: Extract<ApiConfig, { kind: "embedded" }>,
  { config, environment, log, secrets, url, publicUrl, stops, drains, mounts }: Building,
): Promise<{ baseUrl: string; apiKey: string }> {
  const { basePath, createService } = await loadService();
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
    // Everybody in a channel can read the links, but only permitted people may steer. A sandbox has one user.
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

/** Opens the sandbox. Returns the settings that connect the bot to its stand-ins. */
export async function openSandbox(building: Building): Promise<readonly PlatformSettings[]> {
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
