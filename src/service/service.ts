import { join, resolve } from "node:path";
import { lockFolder } from "#disk/folder-lock.ts";
import { withDescription } from "#service/api/description-endpoints.ts";
import { endpoints } from "#service/api/endpoints.ts";
import { createOperations } from "#service/api/operations.ts";
import { createRoutes } from "#service/api/routes.ts";
import { createAttachments } from "#service/files/attachments.ts";
import { environmentTimes } from "#service/files/environment-times.ts";
import { createSessions } from "#service/sessions/sessions.ts";
import { createRunStore } from "#service/store/run-store.ts";
import { createExecution } from "#service/turns/execution.ts";
import { emptyCatalog } from "./catalog.ts";
import type { ServiceOptions } from "./options.ts";

export type { ServiceOptions } from "./options.ts";

/** The path prefix of every endpoint. */
export const basePath = "/api/v1";

const dayMs = 24 * 3_600_000;
const defaults = {
  catalog: emptyCatalog,
  sessionLinks: "read",
  maxQueued: 1_000,
  keepWorktreesMs: 14 * dayMs,
  keepFilesMs: 90 * dayMs,
  graceMs: 5_000,
  demoStepMs: 700,
  now: Date.now,
} as const;

/** An Agent Runs API whose agents run on this machine. */
export type Service = ReturnType<typeof createService>;

export function createService(given: ServiceOptions) {
  const options = { ...defaults, ...given };
  const { apiKey, publicUrl, catalog, sessionLinks, now, log } = options;
  const folder = resolve(options.dataDir, "service");

  const runs = createRunStore(folder, now, log);
  const attachments = createAttachments(join(folder, "attachments"));
  const executor = createExecution({
    ...options,
    runs,
    attachments,
    folder,
    workDir: resolve(options.workDir),
    command: options.command?.trim() ? options.command : null,
    maxRuns: Math.max(1, options.maxRuns),
    maxQueued: Math.max(1, options.maxQueued),
  });

  let places = 0;
  let phase: "new" | "started" | "stopped" = "new";
  let changes: ReadonlyMap<string, number> = new Map();
  let unlock: (() => Promise<void>) | null = null;

  const sessions = createSessions({
    runs,
    live: executor.live,
    links: sessionLinks,
    address: (runId) => `${publicUrl().replace(/\/+$/, "")}${basePath}/sessions/${runId}`,
    now,
    log,
  });
  const operations = createOperations({
    runs,
    executor,
    catalog,
    attachments,
    skills: executor.skills,
    sessions,
    changedAt: (environmentId) => changes.get(environmentId) ?? now(),
    nextPlace: () => ++places,
    now,
  });
  const routes = createRoutes({
    basePath,
    apiKey,
    endpoints: withDescription(endpoints, basePath),
    operations,
    isReady: () => phase === "started",
    log,
  });

  let draining: Promise<void> | null = null;
  function drained(): Promise<void> {
    draining ??= executor.stop();
    return draining;
  }

  return {
    /** Handles requests to paths below `basePath`. */
    fetch: (request: Request): Response | Promise<Response> => routes.fetch(request),
    /**
     * Recovers the data on disk: queued runs run, interrupted ones become ERROR, and processes that a killed
     * service left are ended. Rejects with `FolderInUse` if another process serves the same folder.
     */
    async start(): Promise<void> {
      const release = await lockFolder(folder);
      try {
        await executor.clear();
        changes = await environmentTimes(folder, catalog.environments, now(), log);
        await runs.load();
        places = runs.highestPlace();
        await executor.recover();
      } catch (error) {
        await runs.close();
        await release();
        throw error;
      }
      unlock = release;
      phase = "started";
    },
    /**
     * Begins to end every process: running runs become ERROR, queued runs stay queued. Requests are still handled.
     * For a caller that must stop other things before `stop`.
     */
    drain(): void {
      // `stop` reports the failure.
      drained().catch(() => undefined);
    },
    /** Drains and resolves when that is done. Later requests are refused. */
    async stop(): Promise<void> {
      phase = "stopped";
      sessions.stop();
      await drained();
      await runs.close();
      await unlock?.();
      unlock = null;
    },
    /** The number of runs that are queued or worked on. */
    unfinished: (): number => runs.unfinishedCount(),
  };
}
