import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type EnvironmentSpec, repositoryName } from "#service/catalog.ts";
import type { WorkOptions } from "#service/options.ts";
import type { Git, GitEnd } from "./git.ts";
import { skillFolders } from "./skill-text.ts";

/** A skill in an environment's repository. */
export interface FoundSkill {
  /** `owner/repo:path/to/SKILL.md`. */
  readonly spec: string;
  readonly environmentId: string;
  readonly text: string;
}

/** The environments, and how git runs. */
export interface RepositorySkillsOptions extends Pick<WorkOptions, "catalog" | "now" | "log"> {
  /** Holds shallow clones of the repositories. */
  readonly folder: string;
  readonly git: Git;
  /** The environment of git's processes. */
  readonly inherited: Readonly<Record<string, string>>;
  /** Ends git's processes. */
  readonly signal: AbortSignal;
}

interface Lookup {
  readonly at: number;
  isOver: boolean;
  readonly found: Promise<readonly FoundSkill[]>;
}

const mostSkills = 200;
const mostText = 200_000;
/** How long a result is used again. A lookup runs four git processes or more, 200 ms without the network. */
const holdsForMs = 60_000;
/** Requests wait so long for a lookup. It goes on in the background, for the next request. */
const patienceMs = 10_000;
/** The time limit of a lookup. */
const mostLookMs = 300_000;

/** Finds the skills in the environments' repositories, at the tip of each environment's branch. */
export type RepositorySkills = ReturnType<typeof createRepositorySkills>;

export function createRepositorySkills(options: RepositorySkillsOptions) {
  const { catalog, folder, git, inherited, signal, now, log } = options;
  const lookups = new Map<string, Lookup>();
  /** The latest result of each environment. */
  const known = new Map<string, readonly FoundSkill[]>();

  async function look(spec: EnvironmentSpec, place: number): Promise<readonly FoundSkill[]> {
    const name = repositoryName(spec.repository);
    if (spec.repository === null || name === null) return [];
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(mostLookMs)]);
    const clone = join(folder, String(place));
    const ask = (...args: string[]): Promise<GitEnd> =>
      git(
        { runId: `skills-${place}`, folder: clone, args: [`--git-dir=${clone}`, ...args], most: mostText },
        { ...inherited, ...spec.variables },
        deadline,
      );
    await mkdir(clone, { recursive: true, mode: 0o700 });
    const tip = spec.branch === null ? "HEAD" : `refs/heads/${spec.branch}`;
    const fetch = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--"];
    for (const step of [
      ["init", "--quiet", "--bare", "--template="],
      [...fetch, spec.repository.startsWith(".") ? resolve(spec.repository) : spec.repository, tip],
    ]) {
      const end = await ask(...step);
      if (end.kind === "failed") log.warn("a repository's skills can't be read", { environmentId: spec.id });
      if (end.kind !== "done") return known.get(spec.id) ?? [];
    }
    const found: FoundSkill[] = [];
    for (const path of await skillPaths(ask)) {
      const text = await ask("cat-file", "blob", `FETCH_HEAD:${path}`);
      if (text.kind !== "done") continue;
      found.push({ spec: `${name.owner}/${name.repo}:${path}`, environmentId: spec.id, text: text.output });
    }
    known.set(spec.id, found);
    return found;
  }

  /** The lookup under way, else the last one while it holds, else a new one. */
  function lookup(spec: EnvironmentSpec, place: number, refresh: boolean): Lookup {
    const last = lookups.get(spec.id);
    if (last !== undefined && (!last.isOver || (!refresh && now() - last.at < holdsForMs))) return last;
    const found = look(spec, place).catch((error: unknown) => {
      log.warn("a repository's skills can't be read", { environmentId: spec.id, error });
      return known.get(spec.id) ?? [];
    });
    const next: Lookup = { at: now(), isOver: false, found };
    void found.then(() => {
      next.isOver = true;
    });
    lookups.set(spec.id, next);
    return next;
  }

  /** The result of the lookup; the last known one if that takes too long. */
  function soon(spec: EnvironmentSpec, { at, found }: Lookup): Promise<readonly FoundSkill[]> {
    const leftMs = Math.max(0, at + patienceMs - now());
    const late = sleep(leftMs, undefined, { ref: false }).then(() => known.get(spec.id) ?? []);
    return Promise.race([found, late]);
  }

  return {
    /** `refresh`: fetches again. A repository that can't be read, or not in time, has its last known skills. */
    async find(refresh: boolean): Promise<readonly FoundSkill[]> {
      const all = catalog.environments.map((spec, place) => soon(spec, lookup(spec, place, refresh)));
      return (await Promise.all(all)).flat();
    },
    /** The last known skills in the environment's repository; null if it was never read. */
    known: (environmentId: string): readonly FoundSkill[] | null => known.get(environmentId) ?? null,
    /** Resolves when no lookup is under way. */
    async idle(): Promise<void> {
      await Promise.all([...lookups.values()].map(({ found }) => found));
    },
  };
}

async function skillPaths(ask: (...args: string[]) => Promise<GitEnd>): Promise<string[]> {
  const folders = skillFolders.map((folder) => `${folder}/`);
  const listed = await ask("ls-tree", "-r", "-z", "--name-only", "FETCH_HEAD", "--", ...folders);
  if (listed.kind !== "done") return [];
  return listed.output
    .split("\0")
    .filter((path) =>
      folders.some((folder) => path.startsWith(folder) && isSkillFile(path.slice(folder.length))),
    )
    .slice(0, mostSkills);
}

const isSkillFile = (path: string): boolean => /^[^/]+\/SKILL\.md$/.test(path);
