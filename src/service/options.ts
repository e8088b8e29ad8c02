import type { Log } from "#base/log.ts";
import type { Attachments } from "#service/files/attachments.ts";
import type { SessionLinks } from "#service/sessions/session-keys.ts";
import type { RunStore } from "#service/store/run-store.ts";
import type { Catalog } from "./catalog.ts";

/** The options of a service. Times in milliseconds. */
export interface ServiceOptions {
  /** The service keeps its data in this folder's subfolder `service`. */
  readonly dataDir: string;
  /** The bearer token of every caller. */
  readonly apiKey: string;
  /** The server's address for people, without a path: links to runs' pages start with it. */
  readonly publicUrl: () => string;
  /**
   * The agent: the name of a preset (presets.ts), or a shell command that runs in the run's folder with the
   * prompt on stdin and prints its answer. Absent: a demonstration.
   */
  readonly command?: string | undefined;
  /** The variables that the command inherits, except for the bot's own secrets (agent-environment.ts). */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly catalog?: Catalog;
  readonly sessionLinks?: SessionLinks;
  /** Holds one folder for each run to work in. */
  readonly workDir: string;
  /** Runs that are worked on at the same time, at least 1. */
  readonly maxRuns: number;
  /** New runs are refused while this many wait. */
  readonly maxQueued?: number;
  /** The time limit of a turn, and of the preparation of a run's folder. */
  readonly timeoutMs: number;
  /** The time for which an ended run's folder is kept. */
  readonly keepWorktreesMs?: number;
  /** The time for which an ended run's attachments and artifacts are kept. */
  readonly keepFilesMs?: number;
  /** The time between SIGTERM and SIGKILL. */
  readonly graceMs?: number;
  /** The time that one step of the demonstration takes. */
  readonly demoStepMs?: number;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** The options of the work on runs, complete, and the stores that it shares. */
export interface WorkOptions
  extends Required<Omit<ServiceOptions, "dataDir" | "apiKey" | "publicUrl" | "command" | "sessionLinks">> {
  /** For runs whose factory and environment have no command; null: the demonstration. */
  readonly command: string | null;
  /** The service's own folder. */
  readonly folder: string;
  readonly runs: RunStore;
  readonly attachments: Attachments;
}
