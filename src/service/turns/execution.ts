import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "#base/log.ts";
import type { Agent } from "#service/agents/agent.ts";
import { inherited } from "#service/agents/agent-environment.ts";
import { createCommandAgent } from "#service/agents/command-agent.ts";
import { createDemonstrationAgent } from "#service/agents/demonstration-agent.ts";
import type { Catalog } from "#service/catalog.ts";
import type { Attachments } from "#service/files/attachments.ts";
import { createGit } from "#service/files/git.ts";
import { type IsOver, removeOldFiles } from "#service/files/old-files.ts";
import { createOutputLog } from "#service/files/output-log.ts";
import { createRepositories } from "#service/files/repositories.ts";
import { createRepositorySkills, type RepositorySkills } from "#service/files/repository-skills.ts";
import { artifactsIn, mcpFolderOf } from "#service/files/work-files.ts";
import { createWorkplaces, type Workplaces } from "#service/files/workplaces.ts";
import { createRunProcess } from "#service/processes/run-process.ts";
import { createStartedProcesses } from "#service/processes/started-processes.ts";
import type { Run } from "#service/run/run-document.ts";
import type { RunStore } from "#service/store/run-store.ts";
import { isEnded } from "#service/store/run-wire.ts";
import { createExecutor, type Executor } from "./executor.ts";
import { createTurnWork, mostAnswer } from "./turn-work.ts";

export interface ExecutionOptions {
  readonly runs: RunStore;
  readonly catalog: Catalog;
  readonly attachments: Attachments;
  /** The service's own folder. */
  readonly folder: string;
  readonly workDir: string;
  /** The service's command for runs whose factory and environment have none; null: the demonstration. */
  readonly command: string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly maxRuns: number;
  readonly maxQueued: number;
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly demoStepMs: number;
  /** How long an ended run's folder is kept. */
  readonly keepWorktreesMs: number;
  /** How long the files that came with a run, and that it left, are kept after its end. */
  readonly keepFilesMs: number;
  readonly now: () => number;
  readonly log: Log;
}

export interface Execution extends Executor {
  /** Ends what a killed service left running. Before anything else, and only by the folder's owner. */
  clear(): Promise<void>;
  /** The skills in the environments' repositories. */
  readonly skills: RepositorySkills;
}

const betweenSweepsMs = 3_600_000;
const mostSweepAtStopMs = 2_000;

/** Everything that works on runs, put together. */
export function createExecution(options: ExecutionOptions): Execution {
  const { runs, catalog, attachments, folder, workDir, environment, graceMs, now, log } = options;
  const started = createStartedProcesses(join(folder, "processes"), graceMs, log);
  const run = createRunProcess(started, graceMs);
  const git = createGit(run);
  const repositories = createRepositories(join(folder, "repositories"), git, now);
  const workplaces = createWorkplaces({
    catalog,
    workDir,
    recordDir: join(folder, "worktrees"),
    repositories,
    git,
    run,
    inherited: inherited(environment),
    now,
    log,
  });
  const outputs = createOutputLog(join(folder, "output"), mostAnswer);
  const turns = createTurnWork({ catalog, workplaces, attachments, outputs, folder, log });
  const demonstration = createDemonstrationAgent(options.demoStepMs);

  const agentFor = (which: Run): Agent => {
    const command = commandOf(which, catalog, workplaces, options.command);
    return command === null ? demonstration : createCommandAgent({ command, environment, run, log });
  };
  const { maxRuns, maxQueued, timeoutMs, keepWorktreesMs, keepFilesMs } = options;
  const executor = createExecutor({
    runs,
    agentFor,
    workplaces,
    turns,
    outputs,
    maxRuns,
    maxQueued,
    timeoutMs,
    now,
    log,
  });

  const stopping = new AbortController();
  const skills = createRepositorySkills({
    environments: catalog.environments,
    folder: join(folder, "skills"),
    git,
    inherited: inherited(environment),
    signal: stopping.signal,
    now,
    log,
  });
  let sweeping: Promise<void> = Promise.resolve();
  let timer: ReturnType<typeof setInterval> | undefined;

  /** A run that nobody knows any more, or can read, counts from when what it has was made. */
  const isOverFor =
    (keepMs: number): IsOver =>
    (runId, madeAt) => {
      const known = runs.get(runId);
      if (known !== null && (!isEnded(known.state) || executor.isWorkingOn(runId))) return false;
      return now() - (known?.updatedAt ?? madeAt) > keepMs;
    };

  async function removeOld(): Promise<void> {
    const { signal } = stopping;
    await workplaces.removeOld(isOverFor(keepWorktreesMs), signal);
    await removeOldFiles(mcpFolderOf(folder), { isOver: isOverFor(keepWorktreesMs), signal, log });
    for (const files of [attachments.folder, artifactsIn(folder)]) {
      await removeOldFiles(files, { isOver: isOverFor(keepFilesMs), signal, log });
    }
  }

  function sweep(): void {
    sweeping = sweeping
      .then(removeOld)
      .catch((error: unknown) => log.warn("what old runs left could not be removed", { error }));
  }

  return {
    ...executor,
    skills,
    async clear() {
      await started.endLeftovers();
      await repositories.unlock();
    },
    async recover() {
      await executor.recover();
      sweep();
      timer = setInterval(sweep, betweenSweepsMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      stopping.abort();
      // What is left of a large folder is removed after the next start.
      const swept = Promise.race([sweeping, sleep(mostSweepAtStopMs, undefined, { ref: false })]);
      await Promise.all([executor.stop(), swept, skills.quiet()]);
    },
  };
}

/** The factory's, else the environment's, else the service's; null if nobody has one. */
function commandOf(
  run: Run,
  catalog: Catalog,
  workplaces: Workplaces,
  command: string | null,
): string | null {
  const factory = catalog.factories.find(({ uid }) => uid === run.factoryUid);
  const candidates = [factory?.command, workplaces.environmentOf(run)?.command, command];
  return candidates.find((each) => each != null && each.trim() !== "") ?? null;
}
