import { join, resolve } from "node:path";
import type { Log } from "#base/log.ts";
import { lockFolder } from "#disk/folder-lock.ts";
import { defaultDemoStepMs } from "#service/agents/demonstration-agent.ts";
import { withDescription } from "#service/api/description-endpoints.ts";
import { endpoints } from "#service/api/endpoints.ts";
import { createOperations } from "#service/api/operations.ts";
import { createRoutes } from "#service/api/routes.ts";
import { createAttachments } from "#service/files/attachments.ts";
import type { SessionLinks } from "#service/sessions/session-keys.ts";
import { createSessions } from "#service/sessions/sessions.ts";
import { createRunStore } from "#service/store/run-store.ts";
import { createExecution } from "#service/turns/execution.ts";
import { type Catalog, emptyCatalog } from "./catalog.ts";

export type { SessionLinks } from "#service/sessions/session-keys.ts";

/** Where the service's paths begin. */
export const basePath = "/api/v1";

export interface ServiceOptions {
  /** Its documents live in the folder `service` of this one. */
  readonly dataDir: string;
  /** Bearer token of every caller. */
  readonly apiKey: string;
  /** How people reach this server, for links to a run's page; no path. */
  readonly publicUrl: () => string;
  /**
   * The agent: the name of a preset (presets.ts), or a line that the shell runs in the run's folder, prompt on
   * stdin, answer on stdout. Absent: a demonstration.
   */
  readonly command?: string | undefined;
  /** What the command inherits, less the bot's own secrets (agent-environment.ts). */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What the operator has declared to be picked; absent: nothing. */
  readonly catalog?: Catalog;
  /** What a run's session link allows whoever has it: to read, or to send follow-ups and cancel too. */
  readonly sessionLinks?: SessionLinks;
  /** Each run works in a folder of its own in here. */
  readonly workDir: string;
  /** Runs that are worked on at once, at least 1. */
  readonly maxRuns: number;
  /** New runs are refused while this many wait; 1000 if absent. */
  readonly maxQueued?: number;
  /** How long one turn may take, and how long the preparation of a run's folder. */
  readonly timeoutMs: number;
  /** How long the folder that an ended run has worked in is kept; 14 days if absent. */
  readonly keepWorktreesMs?: number;
  /** How long the files that came with a run, and that it left, are kept after its end; 90 days if absent. */
  readonly keepFilesMs?: number;
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs?: number;
  /** How long one step of the demonstration takes. */
  readonly demoStepMs?: number;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export interface Service {
  /** Answers requests to paths under `basePath`. */
  fetch(request: Request): Response | Promise<Response>;
  /**
   * Recovers what is on disk: queued runs run, interrupted ones become ERROR, and what a killed service left
   * running is ended. Rejects with `FolderInUse` if another process serves the same folder.
   */
  start(): Promise<void>;
  /**
   * Begins to end every process it started: the runs they work on become ERROR, queued runs stay queued.
   * Requests are answered on. For whoever has more to stop than this before `stop`.
   */
  drain(): void;
  /** Drains, and resolves when that is done; from then on nothing is answered. */
  stop(): Promise<void>;
  /** How many runs are queued or worked on. */
  unfinished(): number;
}

const defaultGraceMs = 5_000;
const defaultMaxQueued = 1_000;
const defaultKeepWorktreesMs = 14 * 24 * 3_600_000;
const defaultKeepFilesMs = 90 * 24 * 3_600_000;

/** An Agent Runs service of one's own: the whole Agent Runs API, run on this machine. */
export function createService(options: ServiceOptions): Service {
  const { apiKey, publicUrl, command, environment, maxRuns, timeoutMs, log } = options;
  const { catalog = emptyCatalog, sessionLinks = "read", now = Date.now } = options;
  const folder = resolve(options.dataDir, "service");

  const runs = createRunStore(folder, now, log);
  const attachments = createAttachments(join(folder, "attachments"));
  const executor = createExecution({
    runs,
    catalog,
    attachments,
    folder,
    workDir: resolve(options.workDir),
    command: command?.trim() ? command : null,
    environment,
    maxRuns: Math.max(1, maxRuns),
    maxQueued: Math.max(1, options.maxQueued ?? defaultMaxQueued),
    timeoutMs,
    graceMs: options.graceMs ?? defaultGraceMs,
    demoStepMs: options.demoStepMs ?? defaultDemoStepMs,
    keepWorktreesMs: options.keepWorktreesMs ?? defaultKeepWorktreesMs,
    keepFilesMs: options.keepFilesMs ?? defaultKeepFilesMs,
    now,
    log,
  });

  let places = 0;
  let phase: "new" | "started" | "stopped" = "new";
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
    foundSkills: executor.skills,
    sessions,
    nextPlace: () => ++places,
    now,
  });
  const routes = createRoutes({
    basePath,
    apiKey,
    endpoints: withDescription(endpoints, basePath),
    operations,
    unavailable: () => (phase === "started" ? null : "The service is starting or stopping."),
    log,
  });

  let draining: Promise<void> | null = null;
  function drained(): Promise<void> {
    draining ??= executor.stop();
    return draining;
  }

  return {
    fetch: (request) => routes.fetch(request),
    async start() {
      const release = await lockFolder(folder);
      try {
        await executor.clear();
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
    drain() {
      // Whoever stops it hears what went wrong.
      drained().catch(() => undefined);
    },
    async stop() {
      phase = "stopped";
      sessions.stop();
      await drained();
      await runs.close();
      await unlock?.();
      unlock = null;
    },
    unfinished: () => runs.unfinishedCount(),
  };
}
