import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Agent } from "#service/agents/agent.ts";
import { inherited } from "#service/agents/agent-environment.ts";
import { createCommandAgent } from "#service/agents/command-agent.ts";
import { createDemonstrationAgent } from "#service/agents/demonstration-agent.ts";
import { factoryIn } from "#service/catalog.ts";
import { createGit } from "#service/files/git.ts";
import { type IsOver, removeOldFiles } from "#service/files/old-files.ts";
import { createOutputLog } from "#service/files/output-log.ts";
import { createRepositories } from "#service/files/repositories.ts";
import { createRepositorySkills } from "#service/files/repository-skills.ts";
import { artifactsIn, mcpFolderOf } from "#service/files/work-files.ts";
import { createWorkplaces } from "#service/files/workplaces.ts";
import type { WorkOptions } from "#service/options.ts";
import { createRunProcess } from "#service/processes/run-process.ts";
import { createStartedProcesses } from "#service/processes/started-processes.ts";
import type { Run } from "#service/run/run-document.ts";
import { isEnded } from "#service/store/run-wire.ts";
import { createExecutor } from "./executor.ts";
import { createTurnWork, mostAnswer } from "./turn-work.ts";

const betweenSweepsMs = 3_600_000;
const mostSweepAtStopMs = 2_000;

/** The executor with its agents, files and processes, and the removal of old files. */
export function createExecution(options: WorkOptions) {
  const { runs, catalog, attachments, folder, environment, graceMs, now, log } = options;
  const started = createStartedProcesses(join(folder, "processes"), graceMs, log);
  const run = createRunProcess(started, graceMs);
  const git = createGit(run);
  const repositories = createRepositories(join(folder, "repositories"), git, now);
  const recordDir = join(folder, "worktrees");
  const inheriting = { ...options, inherited: inherited(environment), git };
  const workplaces = createWorkplaces({ ...inheriting, recordDir, repositories, run });
  const outputs = createOutputLog(join(folder, "output"), mostAnswer);
  const turns = createTurnWork({ ...options, workplaces, outputs });
  const demonstration = createDemonstrationAgent(options.demoStepMs);

  /** With the command of the run's factory, else its environment's, else the service's. */
  function agentFor(which: Run): Agent {
    const candidates = [
      factoryIn(catalog, which.factoryUid)?.command,
      workplaces.environmentOf(which)?.command,
      options.command,
    ];
    const command = candidates.find((each) => each?.trim());
    return command == null ? demonstration : createCommandAgent(command, environment, run, log);
  }
  const executor = createExecutor({ ...options, agentFor, workplaces, turns, outputs });

  const stopping = new AbortController();
  const { signal } = stopping;
  const skills = createRepositorySkills({ ...inheriting, folder: join(folder, "skills"), signal });
  let sweeping: Promise<void> = Promise.resolve();
  let timer: ReturnType<typeof setInterval> | undefined;

  /** For a run that is unknown or unreadable, the age of its files counts. */
  const isOverFor =
    (keepMs: number): IsOver =>
    (runId, madeAt) => {
      const known = runs.get(runId);
      if (known !== null && (!isEnded(known.state) || executor.isWorkingOn(runId))) return false;
      return now() - (known?.updatedAt ?? madeAt) > keepMs;
    };

  async function removeOld(): Promise<void> {
    const { keepWorktreesMs, keepFilesMs } = options;
    await workplaces.removeOld(isOverFor(keepWorktreesMs), signal);
    await removeOldFiles(mcpFolderOf(folder), { isOver: isOverFor(keepWorktreesMs), signal, log });
    for (const files of [attachments.folder, artifactsIn(folder)]) {
      await removeOldFiles(files, { isOver: isOverFor(keepFilesMs), signal, log });
    }
  }

  function sweep(): void {
    sweeping = sweeping
      .then(removeOld)
      .catch((error: unknown) => log.warn("files of old runs could not be removed", { error }));
  }

  return {
    ...executor,
    /** The skills in the environments' repositories. */
    skills,
    /**
     * Ends the processes that a killed service left, and removes git's locks. To be called before anything else,
     * and only by the owner of the folder.
     */
    async clear(): Promise<void> {
      await started.endLeftovers();
      await repositories.unlock();
    },
    async recover(): Promise<void> {
      await executor.recover();
      sweep();
      timer = setInterval(sweep, betweenSweepsMs);
      timer.unref();
    },
    async stop(): Promise<void> {
      clearInterval(timer);
      stopping.abort();
      // The next start removes the rest of a large folder.
      const swept = Promise.race([sweeping, sleep(mostSweepAtStopMs, undefined, { ref: false })]);
      await Promise.all([executor.stop(), swept, skills.idle()]);
    },
  };
}
