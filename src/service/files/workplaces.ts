import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Low } from "lowdb";
import { z } from "zod";
import { createKeyedQueue } from "#base/keyed-queue.ts";
import { durableFile } from "#disk/durable-file.ts";
import { placedIn } from "#service/agents/agent-environment.ts";
import { type EnvironmentSpec, environmentIn } from "#service/catalog.ts";
import type { WorkOptions } from "#service/options.ts";
import { faultOf, type RunProcess } from "#service/processes/run-process.ts";
import { createTextTail, lastLines } from "#service/processes/text-tail.ts";
import type { Run } from "#service/run/run-document.ts";
import type { Git } from "./git.ts";
import type { IsOver } from "./old-files.ts";
import { abortedBy, type Repositories, runRef } from "./repositories.ts";

/** `notes` tell the agent and people about anything unexpected. */
export type Prepared =
  | { readonly kind: "ready"; readonly notes: readonly string[] }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "aborted" };

/** The record of a run's folder. `gone`: it was ready and has been removed. */
const workplace = z.object({
  state: z.enum(["making", "ready", "gone"]),
  /** Whether an agent may have worked in an earlier folder of the run. */
  again: z.boolean(),
  clone: z.string().nullable(),
  branch: z.string().nullable(),
  /** Milliseconds since the epoch. */
  at: z.number(),
});
type Workplace = z.infer<typeof workplace>;

/** The folders and tools of the workplaces. */
export interface WorkplaceOptions extends Pick<WorkOptions, "catalog" | "workDir" | "now" | "log"> {
  /** Holds the records of the folders. */
  readonly recordDir: string;
  readonly repositories: Repositories;
  readonly git: Git;
  readonly run: RunProcess;
  /** The variables that git and the set-up inherit. */
  readonly inherited: Readonly<Record<string, string>>;
}

/** The time limit for keeping a run's commits. */
const keepingMs = 20_000;
/** The most characters of a set-up command's output that are kept. */
const mostOutput = 8_000;
const madeAgain = "The run's folder was made again: uncommitted changes are lost, commits are here.";
const emptied = "The folder of the run's earlier turns is gone: this one is empty.";

/** The folders that runs work in. All methods reject with the file system's error. */
export type Workplaces = ReturnType<typeof createWorkplaces>;

export function createWorkplaces(options: WorkplaceOptions) {
  const { catalog, workDir, recordDir, repositories, git, inherited, now, log } = options;
  const queue = createKeyedQueue();
  const folderOf = (run: Run): string => join(workDir, run.id);
  const environmentOf = (run: Run): EnvironmentSpec | null =>
    environmentIn(catalog, run.config.environment_id);
  const recordOf = (runId: string): Low<Workplace | null> =>
    new Low(durableFile(join(recordDir, `${runId}.json`), workplace.parse), null);

  function variablesFor(run: Run, spec: EnvironmentSpec | null): Record<string, string> {
    const own = { AGENT_RUN_ID: run.id, AGENT_ENVIRONMENT_ID: spec?.id ?? "" };
    return { ...inherited, ...spec?.variables, ...placedIn(folderOf(run)), ...own };
  }

  async function read(runId: string): Promise<Workplace | null> {
    const record = recordOf(runId);
    await record.read();
    return record.data;
  }

  async function write(runId: string, data: Omit<Workplace, "at">): Promise<void> {
    await mkdir(recordDir, { recursive: true, mode: 0o700 });
    const record = recordOf(runId);
    record.data = { ...data, at: now() };
    await record.write();
  }

  /** A folder without a record is older than its environment's declaration: it stays as it is. */
  const isReady = async (run: Run, record: Workplace | null): Promise<boolean> =>
    (record === null || record.state === "ready") && (await isFolder(folderOf(run)));

  /** Checks out the repository and runs the set-up commands until one fails. */
  async function make(run: Run, spec: EnvironmentSpec, signal: AbortSignal): Promise<Prepared> {
    const before = await read(run.id);
    if (await isReady(run, before)) return { kind: "ready", notes: [] };
    const { again, branch, clone: oldClone } = before ?? { again: false, branch: null, clone: null };
    const path = folderOf(run);
    await mkdir(workDir, { recursive: true, mode: 0o700 });
    await write(run.id, { state: "making", again, clone: oldClone, branch });
    const notes = again ? [madeAgain] : [];
    const environment = variablesFor(run, spec);
    let clone: string | null = null;
    if (spec.repository === null) await mkdir(path, { recursive: true, mode: 0o700 });
    else {
      const { id: environmentId, repository, branch: start } = spec;
      const end = await repositories.checkOut(
        {
          runId: run.id,
          environmentId,
          repository,
          branch: start,
          path,
          again: again ? { branch } : null,
          environment,
        },
        signal,
      );
      if (end.kind !== "done") return end;
      clone = end.clone;
      await write(run.id, { state: "making", again, clone, branch });
      if (end.staleSince !== null) {
        log.warn("a repository could not be fetched", { runId: run.id, environmentId: spec.id });
        notes.push(`The repository could not be fetched; this is its state of ${end.staleSince}.`);
      }
    }
    for (const line of spec.setup) {
      const output = createTextTail(mostOutput);
      const request = { runId: run.id, command: { line }, folder: path, environment };
      const end = await options.run(request, signal, { stdout: output.add, stderr: output.add });
      if (end.kind === "aborted") return end;
      const fault = faultOf(end);
      if (fault === null) continue;
      const words = lastLines(output.text());
      const reason = `The set-up of ${spec.id} failed: ${line} ${fault}`;
      return { kind: "failed", reason: words === "" ? `${reason}.` : `${reason}: ${words}` };
    }
    await write(run.id, { state: "ready", again: true, clone, branch });
    return { kind: "ready", notes };
  }

  async function makeEmpty(run: Run): Promise<Prepared> {
    const path = folderOf(run);
    const isLost = (await read(run.id)) !== null && !(await isFolder(path));
    await mkdir(path, { recursive: true, mode: 0o700 });
    return { kind: "ready", notes: isLost ? [emptied] : [] };
  }

  async function removeIfOver(runId: string, isOver: IsOver, signal: AbortSignal): Promise<void> {
    const record = await read(runId);
    const path = join(workDir, runId);
    const isKnown = record !== null && record.state !== "gone";
    // Without a record, only a known run's folder is ours.
    if (!isOver(runId, isKnown ? record.at : Number.POSITIVE_INFINITY)) return;
    if (!isKnown && !(await isFolder(path))) return;
    const { clone, branch } = record ?? { clone: null, branch: null };
    await write(runId, { state: "gone", again: isKnown ? record.again : true, clone, branch });
    log.info("an old folder is removed", { runId });
    if (!isKnown || clone === null) await rm(path, { recursive: true, force: true });
    else await repositories.remove({ runId, clone, path, environment: inherited }, signal);
  }

  return {
    folderOf,
    /** The declaration of the run's environment; null if it has none, or it is no longer declared. */
    environmentOf,
    /** Whether `prepare` would fetch or set up anything. */
    async needsPreparing(run: Run): Promise<boolean> {
      const spec = environmentOf(run);
      return spec !== null && !isPlain(spec) && !(await isReady(run, await read(run.id)));
    },
    /** Makes the run's folder as its environment declares, unless it is there already. */
    async prepare(run: Run, signal: AbortSignal): Promise<Prepared> {
      const spec = environmentOf(run);
      const isEmpty = spec === null || isPlain(spec);
      const work = (): Promise<Prepared> => (isEmpty ? makeEmpty(run) : make(run, spec, signal));
      // An empty folder is queued too, because the removal of the old one may be under way.
      return queue.run(run.id, work, { signal }).catch(abortedBy(signal));
    },
    /** Keeps the run's commits under a ref of the clone. Resolves with the worktree's branch, "" if it has none. */
    async keepCommits(run: Run): Promise<string> {
      const record = await read(run.id);
      if (record?.clone == null) return "";
      // If the agent has removed its folder, the branch of earlier turns is the best answer.
      if (!(await isFolder(folderOf(run)))) return record.branch ?? "";
      const signal = AbortSignal.timeout(keepingMs);
      const environment = variablesFor(run, environmentOf(run));
      const ask = (...args: string[]) =>
        git({ runId: run.id, folder: folderOf(run), args }, environment, signal);
      await ask("update-ref", runRef(run.id), "HEAD");
      const head = await ask("symbolic-ref", "--quiet", "--short", "HEAD");
      const branch = head.kind === "done" ? head.output.trim() : "";
      if ((record.branch ?? "") !== branch) await write(run.id, { ...record, branch: branch || null });
      return branch;
    },
    /** Removes the folders of runs that are over. */
    async removeOld(isOver: IsOver, signal: AbortSignal): Promise<void> {
      const records = await readdir(recordDir).catch(() => []);
      const recorded = records.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -5));
      for (const runId of new Set([...recorded, ...(await readdir(workDir).catch(() => []))])) {
        if (signal.aborted) return;
        const removal = (): Promise<void> => removeIfOver(runId, isOver, signal);
        await queue.run(runId, removal, { signal }).catch((error: unknown) => {
          if (!signal.aborted) log.warn("an old folder could not be removed", { runId, error });
        });
      }
    },
  };
}

/** Whether the environment has nothing to fetch and nothing to set up: its runs get an empty folder. */
const isPlain = (spec: EnvironmentSpec): boolean => spec.repository === null && spec.setup.length === 0;

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => null))?.isDirectory() ?? false;
