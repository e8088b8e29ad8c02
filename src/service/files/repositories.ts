import { createHash } from "node:crypto";
import { access, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createKeyedQueue } from "#base/keyed-queue.ts";
import { isMissing, writeDurably } from "#disk/durable-file.ts";
import type { Git, GitEnd } from "./git.ts";

/** One run's wish for a worktree. */
export interface CheckOut {
  readonly runId: string;
  readonly environmentId: string;
  /** URL or path that git can fetch from. */
  readonly repository: string;
  /** null: the repository's default branch. */
  readonly branch: string | null;
  /** Where the worktree is made; what is there is removed. */
  readonly path: string;
  /** The run worked before: begin where it left off, if that is known, and on that branch, if it is free. */
  readonly again: { readonly branch: string | null } | null;
  /** Of git's processes. */
  readonly environment: Readonly<Record<string, string>>;
}

/** `staleSince`: the repository could not be fetched now, and this is when it last was. */
export type CheckedOut =
  | { readonly kind: "done"; readonly clone: string; readonly staleSince: string | null }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "aborted" };

export interface Repositories {
  /**
   * Before anything else, while no git works on the clones: what a killed one has locked would stay locked
   * for good.
   */
  unlock(): Promise<void>;
  /** Fetches the environment's clone, or makes it, and makes the worktree. */
  checkOut(wish: CheckOut, signal: AbortSignal): Promise<CheckedOut>;
  /** Removes a worktree; what is committed in it stays in the clone. */
  remove(
    wish: Pick<CheckOut, "runId" | "path" | "environment"> & { readonly clone: string },
    signal: AbortSignal,
  ): Promise<void>;
}

/** Under which name a clone keeps what a run has committed. */
export const runRef = (runId: string): string => `refs/agent-runs/${runId}`;

const fetchedFile = "fetched-at";

/**
 * The environments' bare clones, one each in `folder`. Git works on a clone once at a time. The clones know
 * the repository's branches as `origin/…`: a run may have any branch of its own.
 */
export function createRepositories(folder: string, git: Git, now: () => number): Repositories {
  const queue = createKeyedQueue();
  /** Clones that this process has made ready. */
  const known = new Set<string>();

  async function inClone(clone: string, wish: CheckOut, signal: AbortSignal): Promise<CheckedOut> {
    const ask = (...args: string[]): Promise<GitEnd> =>
      git(
        { runId: wish.runId, folder: clone, args: [`--git-dir=${clone}`, ...args] },
        wish.environment,
        signal,
      );
    const made = await makeReady(clone, wish, ask);
    if (made !== null && made.kind !== "done") return told(made, "could not be made ready");
    let staleSince: string | null = null;
    const fetched = await fetch(ask);
    if (fetched.kind === "aborted") return fetched;
    if (fetched.kind === "failed") {
      staleSince = await readFile(join(clone, fetchedFile), "utf8").catch(() => null);
      // What was fetched before is of more use than no run at all, as long as everybody is told.
      if (staleSince === null) return told(fetched, "could not be fetched");
    } else {
      await writeDurably(join(clone, fetchedFile), new Date(now()).toISOString());
    }
    if (wish.branch === null && staleSince === null) await ask("remote", "set-head", "origin", "--auto");
    const commit = await beginning(wish, ask);
    if (commit.kind === "aborted") return commit;
    if (commit.kind === "failed") {
      // Nothing is known of the repository itself; what git said of the fetch is the cause.
      if (fetched.kind === "failed") return told(fetched, "could not be fetched", clone);
      const what = wish.branch === null ? "default branch" : `branch ${JSON.stringify(wish.branch)}`;
      return { kind: "failed", reason: `The repository has no ${what}.` };
    }
    await rm(wish.path, { recursive: true, force: true });
    await ask("worktree", "prune");
    const added = await ask("worktree", "add", "--quiet", "--detach", "--", wish.path, commit.output.trim());
    if (added.kind !== "done") return told(added, "could not be checked out", clone);
    if (wish.again?.branch) await backOnBranch(wish.again.branch, wish, signal);
    return { kind: "done", clone, staleSince };
  }

  /** null: it was ready already. */
  async function makeReady(
    clone: string,
    { repository }: CheckOut,
    ask: (...args: string[]) => Promise<GitEnd>,
  ): Promise<GitEnd | null> {
    // Somebody may have removed it since, to make room or because it was damaged.
    if (known.has(clone) && (await isThere(join(clone, "HEAD")))) return null;
    await mkdir(clone, { recursive: true, mode: 0o700 });
    const url = repository.startsWith(".") ? resolve(repository) : repository;
    const steps = [
      ["init", "--quiet", "--bare", "--template="],
      ["config", "--replace-all", "--", "remote.origin.url", url],
      ["config", "--replace-all", "--", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"],
    ];
    for (const step of steps) {
      const end = await ask(...step);
      if (end.kind !== "done") return end;
    }
    known.add(clone);
    return null;
  }

  /** Twice, because an agent that fetches at the same moment holds locks for a moment. */
  async function fetch(ask: (...args: string[]) => Promise<GitEnd>): Promise<GitEnd> {
    const args = [
      "fetch",
      "--quiet",
      "--prune",
      "--no-recurse-submodules",
      "--no-write-fetch-head",
      "--",
      "origin",
    ];
    const first = await ask(...args);
    return first.kind === "failed" ? ask(...args) : first;
  }

  /** The branch that the run was on, unless it is checked out elsewhere or gone. */
  async function backOnBranch(branch: string, wish: CheckOut, signal: AbortSignal): Promise<void> {
    if (branch.startsWith("-")) return;
    const at = { runId: wish.runId, folder: wish.path };
    await git({ ...at, args: ["checkout", "--quiet", branch, "--"] }, wish.environment, signal);
  }

  return {
    unlock: () => removeLocks(folder),
    checkOut(wish, signal) {
      const clone = join(folder, cloneName(wish));
      return queue.run(clone, () => inClone(clone, wish, signal), { signal }).catch(abortedBy(signal));
    },
    async remove({ runId, clone, path, environment }, signal) {
      const removal = async (): Promise<void> => {
        await rm(path, { recursive: true, force: true });
        const args = [`--git-dir=${clone}`, "worktree", "prune"];
        await git({ runId, folder: clone, args }, environment, signal);
      };
      await queue.run(clone, removal, { signal });
    },
  };
}

/** What the new worktree's commit is. */
async function beginning(wish: CheckOut, ask: (...args: string[]) => Promise<GitEnd>): Promise<GitEnd> {
  if (wish.again !== null) {
    const kept = await ask("show-ref", "--verify", "--hash", "--", runRef(wish.runId));
    if (kept.kind !== "failed") return kept;
  }
  // The name stands for itself alone: nothing in it can be an option, or lead to another commit.
  return ask("show-ref", "--verify", "--hash", "--", `refs/remotes/origin/${wish.branch ?? "HEAD"}`);
}

/** For queued work: a rejection with the signal's reason becomes a value, any other one stays. */
export const abortedBy =
  (signal: AbortSignal) =>
  (error: unknown): { readonly kind: "aborted" } => {
    if (signal.aborted && error === signal.reason) return { kind: "aborted" };
    throw error;
  };

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** `clone`: it was there before, and may be what is wrong. */
function told(end: GitEnd, what: string, clone?: string): CheckedOut {
  if (end.kind !== "failed") return { kind: "aborted" };
  const hint = `If the service's clone is damaged, remove ${clone}: the next run makes it anew.`;
  const reason = `The repository ${what}: ${end.complaint}`;
  return { kind: "failed", reason: clone === undefined ? reason : `${reason}\n${hint}` };
}

/** Another repository of the same environment is another clone: worktrees may still need the old one. */
function cloneName({ environmentId, repository }: CheckOut): string {
  const hash = createHash("sha256").update(`${environmentId}\0${repository}`).digest("hex").slice(0, 16);
  const readable = environmentId.replaceAll(/[^a-zA-Z0-9]+/g, "-").slice(0, 40);
  return `${readable}-${hash}.git`;
}

async function removeLocks(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== "objects") await removeLocks(path);
    } else if (entry.name.endsWith(".lock")) await rm(path, { force: true });
  }
}
