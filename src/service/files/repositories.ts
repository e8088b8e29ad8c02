import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createKeyedQueue } from "#base/keyed-queue.ts";
import { isMissing, writeDurably } from "#disk/durable-file.ts";
import type { Git, GitEnd } from "./git.ts";

/** A request for a run's worktree. */
export interface CheckOut {
  readonly runId: string;
  readonly environmentId: string;
  /** A URL or path that git can fetch from. */
  readonly repository: string;
  /** null: the repository's default branch. */
  readonly branch: string | null;
  /** The worktree's path. Anything there is removed. */
  readonly path: string;
  /** For a run that worked before: start at its last commit if that is kept, on its branch if that is free. */
  readonly again: { readonly branch: string | null } | null;
  /** The environment of git's processes. */
  readonly environment: Readonly<Record<string, string>>;
}

/** `staleSince`: the repository could not be fetched now; the clone is of this time. */
export type CheckedOut =
  | { readonly kind: "done"; readonly clone: string; readonly staleSince: string | null }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "aborted" };

/** The ref under which a clone keeps a run's commits. */
export const runRef = (runId: string): string => `refs/agent-runs/${runId}`;

type Ask = (...args: string[]) => Promise<GitEnd>;

const fetchedFile = "fetched-at";
const fetchArgs = "fetch --quiet --prune --no-recurse-submodules --no-write-fetch-head -- origin".split(" ");

/**
 * The environments' bare clones, one each in `folder`. Git runs in one clone once at a time. The clones have the
 * repository's branches as `origin/…`, so a run may use any branch name.
 */
export type Repositories = ReturnType<typeof createRepositories>;

export function createRepositories(folder: string, git: Git, now: () => number) {
  const queue = createKeyedQueue();
  /** The clones that this process has initialised. This saves each run three git processes, 150 ms. */
  const known = new Set<string>();

  async function inClone(clone: string, wanted: CheckOut, signal: AbortSignal): Promise<CheckedOut> {
    const { runId, environment, branch, path, again } = wanted;
    const ask: Ask = (...args) =>
      git({ runId, folder: clone, args: [`--git-dir=${clone}`, ...args] }, environment, signal);
    const made = await initialise(clone, wanted, ask);
    if (made !== null && made.kind !== "done") return failure(made, "could not be made ready");
    let staleSince: string | null = null;
    const fetched = await fetch(ask);
    if (fetched.kind === "aborted") return fetched;
    if (fetched.kind === "failed") {
      staleSince = await readFile(join(clone, fetchedFile), "utf8").catch(() => null);
      // A stale clone is better than no run; a note tells the agent and people.
      if (staleSince === null) return failure(fetched, "could not be fetched");
    } else {
      await writeDurably(join(clone, fetchedFile), new Date(now()).toISOString());
    }
    if (branch === null && staleSince === null) await ask("remote", "set-head", "origin", "--auto");
    const commit = await startOf(wanted, ask);
    if (commit.kind === "aborted") return commit;
    if (commit.kind === "failed") {
      // After a failed fetch, the missing branch is only a consequence.
      if (fetched.kind === "failed") return failure(fetched, "could not be fetched", clone);
      const name = branch === null ? "default branch" : `branch ${JSON.stringify(branch)}`;
      return { kind: "failed", reason: `The repository has no ${name}.` };
    }
    await rm(path, { recursive: true, force: true });
    await ask("worktree", "prune");
    const added = await ask("worktree", "add", "--quiet", "--detach", "--", path, commit.output.trim());
    if (added.kind !== "done") return failure(added, "could not be checked out", clone);
    // Fails if the branch is gone or checked out elsewhere; then the worktree stays detached.
    if (again?.branch && !again.branch.startsWith("-")) {
      await git(
        { runId, folder: path, args: ["checkout", "--quiet", again.branch, "--"] },
        environment,
        signal,
      );
    }
    return { kind: "done", clone, staleSince };
  }

  /** Makes the bare clone ready to fetch. null: it is ready already. */
  async function initialise(clone: string, { repository }: CheckOut, ask: Ask): Promise<GitEnd | null> {
    // An operator may have removed it since, to free space or because it was damaged.
    if (known.has(clone) && (await exists(join(clone, "HEAD")))) return null;
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

  return {
    /** Removes the locks of a killed service's git, which would last for ever. To be called while no git runs. */
    unlock: (): Promise<void> => removeLocks(folder),
    /** Fetches the environment's clone, or makes it, and makes the worktree. */
    checkOut(wanted: CheckOut, signal: AbortSignal): Promise<CheckedOut> {
      const clone = join(folder, cloneName(wanted));
      return queue.run(clone, () => inClone(clone, wanted, signal), { signal }).catch(abortedBy(signal));
    },
    /** Removes a worktree; its commits stay in the clone. Rejects with the signal's reason if aborted. */
    async remove(
      worktree: Pick<CheckOut, "runId" | "path" | "environment"> & { readonly clone: string },
      signal: AbortSignal,
    ): Promise<void> {
      const { runId, path, clone, environment } = worktree;
      const removal = async (): Promise<void> => {
        await rm(path, { recursive: true, force: true });
        const args = [`--git-dir=${clone}`, "worktree", "prune"];
        await git({ runId, folder: clone, args }, environment, signal);
      };
      await queue.run(clone, removal, { signal });
    },
  };
}

/** Tries twice, because an agent that fetches at the same moment holds git's locks. */
async function fetch(ask: Ask): Promise<GitEnd> {
  const first = await ask(...fetchArgs);
  return first.kind === "failed" ? ask(...fetchArgs) : first;
}

/** The commit that the new worktree starts at. */
async function startOf({ runId, branch, again }: CheckOut, ask: Ask): Promise<GitEnd> {
  const find = (ref: string): Promise<GitEnd> => ask("show-ref", "--verify", "--hash", "--", ref);
  if (again !== null) {
    const kept = await find(runRef(runId));
    if (kept.kind !== "failed") return kept;
  }
  // A full ref name can neither be an option nor an expression.
  return find(`refs/remotes/origin/${branch ?? "HEAD"}`);
}

/** For queued work: a rejection with the signal's reason becomes a value, any other one stays. */
export const abortedBy =
  (signal: AbortSignal) =>
  (error: unknown): { readonly kind: "aborted" } => {
    if (signal.aborted && error === signal.reason) return { kind: "aborted" };
    throw error;
  };

const exists = async (path: string): Promise<boolean> => (await stat(path).catch(() => null)) !== null;

/** `clone`: an earlier clone, which may be the cause. */
function failure(end: GitEnd, fault: string, clone?: string): CheckedOut {
  if (end.kind !== "failed") return { kind: "aborted" };
  const reason = `The repository ${fault}: ${end.complaint}`;
  const hint = `If the service's clone is damaged, remove ${clone}: the next run makes it again.`;
  return { kind: "failed", reason: clone === undefined ? reason : `${reason}\n${hint}` };
}

/** A changed repository of an environment gets another clone, because worktrees may still need the old one. */
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
