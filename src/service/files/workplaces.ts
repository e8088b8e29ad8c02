import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Low } from "lowdb";
import { z } from "zod";
import { createKeyedQueue } from "#base/keyed-queue.ts";
import type { Log } from "#base/log.ts";
import { durableFile } from "#disk/durable-file.ts";
import { placedIn } from "#service/agents/agent-environment.ts";
import type { Catalog, EnvironmentSpec } from "#service/catalog.ts";
import type { RunProcess } from "#service/processes/run-process.ts";
import type { Run } from "#service/run/run-document.ts";
import type { Git } from "./git.ts";
import type { IsOver } from "./old-files.ts";
import { abortedBy, type Repositories, runRef } from "./repositories.ts";
import { setUp } from "./set-up.ts";

/** `notes` are for the agent and for people: what is not as they would expect. */
export type Prepared =
  | { readonly kind: "ready"; readonly notes: readonly string[] }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "aborted" };

/** The folders that runs work in. All of it rejects with the file system's error. */
export interface Workplaces {
  folderOf(run: Run): string;
  /** What its environment declares; null if it has none, or nobody declares it any more. */
  environmentOf(run: Run): EnvironmentSpec | null;
  /** Whether `prepare` would fetch or set up something. */
  needsPreparing(run: Run): Promise<boolean>;
  /** Makes the run's folder what its environment says, unless it is that already. */
  prepare(run: Run, signal: AbortSignal): Promise<Prepared>;
  /** Keeps what the run has committed, and tells which branch its worktree is on; "" if on none. */
  keepCommits(run: Run): Promise<string>;
  /** Removes the folders of runs that `isOver` says yes to. */
  removeOld(isOver: IsOver, signal: AbortSignal): Promise<void>;
}

/** What is known of a run's folder, on disk. `gone`: it was ready and is removed. */
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

export interface WorkplaceOptions {
  readonly catalog: Catalog;
  readonly workDir: string;
  /** What is known of the folders is kept here. */
  readonly recordDir: string;
  readonly repositories: Repositories;
  readonly git: Git;
  readonly run: RunProcess;
  /** What git and the set-up inherit. */
  readonly inherited: Readonly<Record<string, string>>;
  readonly now: () => number;
  readonly log: Log;
}

const keepingMs = 20_000;
const anew =
  "The run's folder was made anew: what had not been committed in it is lost, and what had been is here.";
const bare = "The folder of the run's earlier turns is gone: this one is empty.";

export function createWorkplaces(options: WorkplaceOptions): Workplaces {
  const { catalog, workDir, recordDir, repositories, git, inherited, now, log } = options;
  const queue = createKeyedQueue();
  const folderOf = (run: Run): string => join(workDir, run.id);
  const environmentOf = (run: Run): EnvironmentSpec | null =>
    catalog.environments.find(({ id }) => id === run.config.environment_id) ?? null;
  const record = (runId: string): Low<Workplace | null> =>
    new Low(durableFile(join(recordDir, `${runId}.json`), workplace.parse), null);

  function environmentFor(run: Run, spec: EnvironmentSpec | null): Record<string, string> {
    const own = { AGENT_RUN_ID: run.id, AGENT_ENVIRONMENT_ID: spec?.id ?? "" };
    return { ...inherited, ...spec?.variables, ...placedIn(folderOf(run)), ...own };
  }

  async function known(runId: string): Promise<Workplace | null> {
    const db = record(runId);
    await db.read();
    return db.data;
  }

  async function write(runId: string, data: Omit<Workplace, "at">): Promise<void> {
    await mkdir(recordDir, { recursive: true, mode: 0o700 });
    const db = record(runId);
    db.data = { ...data, at: now() };
    await db.write();
  }

  /** A folder that nothing is known of is from before its environment was declared: it stays as it is. */
  const isReady = async (run: Run, before: Workplace | null): Promise<boolean> =>
    (before === null || before.state === "ready") && (await isFolder(folderOf(run)));

  async function make(run: Run, spec: EnvironmentSpec, signal: AbortSignal): Promise<Prepared> {
    const before = await known(run.id);
    if (await isReady(run, before)) return { kind: "ready", notes: [] };
    const again = before?.again ?? false;
    const branch = before?.branch ?? null;
    const path = folderOf(run);
    await mkdir(workDir, { recursive: true, mode: 0o700 });
    await write(run.id, { state: "making", again, clone: before?.clone ?? null, branch });
    const notes = again ? [anew] : [];
    const environment = environmentFor(run, spec);
    let clone: string | null = null;
    if (spec.repository === null) await mkdir(path, { recursive: true, mode: 0o700 });
    else {
      const { repository } = spec;
      const wish = { runId: run.id, environmentId: spec.id, repository, branch: spec.branch, path };
      const got = await repositories.checkOut(
        { ...wish, again: again ? { branch } : null, environment },
        signal,
      );
      if (got.kind !== "done") return got;
      clone = got.clone;
      await write(run.id, { state: "making", again, clone, branch });
      if (got.staleSince !== null) {
        log.warn("a repository could not be fetched", { runId: run.id, environmentId: spec.id });
        notes.push(`The repository could not be fetched; this is how it was at ${got.staleSince}.`);
      }
    }
    const end = await setUp({ runId: run.id, spec, folder: path, environment }, options.run, signal);
    if (end.kind === "ready") await write(run.id, { state: "ready", again: true, clone, branch });
    return end.kind === "ready" ? { kind: "ready", notes } : end;
  }

  async function makeEmpty(run: Run): Promise<Prepared> {
    const path = folderOf(run);
    const isLost = (await known(run.id)) !== null && !(await isFolder(path));
    await mkdir(path, { recursive: true, mode: 0o700 });
    return { kind: "ready", notes: isLost ? [bare] : [] };
  }

  async function removeIfOver(runId: string, isOver: IsOver, signal: AbortSignal): Promise<void> {
    const before = await known(runId);
    const path = join(workDir, runId);
    if (before === null || before.state === "gone") {
      // What no known run has worked in is somebody else's.
      if (!isOver(runId, Number.POSITIVE_INFINITY) || !(await isFolder(path))) return;
      const { clone, branch } = before ?? { clone: null, branch: null };
      await write(runId, { state: "gone", again: true, clone, branch });
      log.info("an old folder is removed", { runId });
      return rm(path, { recursive: true, force: true });
    }
    if (!isOver(runId, before.at)) return;
    await write(runId, { ...before, state: "gone" });
    log.info("an old folder is removed", { runId });
    const { clone } = before;
    if (clone === null) await rm(path, { recursive: true, force: true });
    else await repositories.remove({ runId, clone, path, environment: inherited }, signal);
  }

  return {
    folderOf,
    environmentOf,
    async needsPreparing(run) {
      const spec = environmentOf(run);
      if (spec === null || isPlain(spec)) return false;
      return !(await isReady(run, await known(run.id)));
    },
    async prepare(run, signal) {
      const spec = environmentOf(run);
      const isEmpty = spec === null || isPlain(spec);
      const work = (): Promise<Prepared> => (isEmpty ? makeEmpty(run) : make(run, spec, signal));
      // Also the empty one: the old one may be on its way out.
      return queue.run(run.id, work, { signal }).catch(abortedBy(signal));
    },
    async keepCommits(run) {
      const before = await known(run.id);
      if (before?.clone == null) return "";
      // Where the agent has removed it, what is known of earlier turns is all there is.
      if (!(await isFolder(folderOf(run)))) return before.branch ?? "";
      const at = { runId: run.id, folder: folderOf(run) };
      const signal = AbortSignal.timeout(keepingMs);
      const environment = environmentFor(run, environmentOf(run));
      await git({ ...at, args: ["update-ref", runRef(run.id), "HEAD"] }, environment, signal);
      const head = await git(
        { ...at, args: ["symbolic-ref", "--quiet", "--short", "HEAD"] },
        environment,
        signal,
      );
      const branch = head.kind === "done" ? head.output.trim() : "";
      if ((before.branch ?? "") !== branch) await write(run.id, { ...before, branch: branch || null });
      return branch;
    },
    async removeOld(isOver, signal) {
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

/** Nothing to fetch and nothing to set up: an empty folder. */
const isPlain = (spec: EnvironmentSpec): boolean => spec.repository === null && spec.setup.length === 0;

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => null))?.isDirectory() ?? false;
