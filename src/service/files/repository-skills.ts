import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Log } from "#base/log.ts";
import { repositoryOf } from "#service/api/catalog-wire.ts";
import type { EnvironmentSpec } from "#service/catalog.ts";
import type { Git, GitEnd } from "./git.ts";

/** A skill in an environment's repository. */
export interface FoundSkill {
  /** `owner/repo:path/to/SKILL.md`. */
  readonly spec: string;
  readonly environmentId: string;
  readonly text: string;
}

export interface RepositorySkillsOptions {
  readonly environments: readonly EnvironmentSpec[];
  /** What is fetched of the repositories is kept in here. */
  readonly folder: string;
  readonly git: Git;
  /** Of git's processes. */
  readonly inherited: Readonly<Record<string, string>>;
  /** Ends whatever git does. */
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly log: Log;
}

export interface RepositorySkills {
  /** `anew`: not what was found a moment ago. Repositories that can't be read, or not soon, have none. */
  find(anew: boolean): Promise<readonly FoundSkill[]>;
  /** Resolves when nothing is looked for any more. */
  quiet(): Promise<void>;
}

interface Lookup {
  readonly at: number;
  readonly over: boolean;
  readonly found: Promise<readonly FoundSkill[]>;
}

const mostSkills = 200;
const mostText = 200_000;
const holdsForMs = 60_000;
/** Nobody waits longer for a look at a repository; what it finds later is there the next time. */
const patienceMs = 10_000;
const mostLookMs = 300_000;
const pathOfSkill = /^(?:\.agents\/skills|\.claude\/skills|skills)\/[^/]+\/SKILL\.md$/;

/** Looks for skills where turn after turn looks for them too, at the tip of each environment's branch. */
export function createRepositorySkills(options: RepositorySkillsOptions): RepositorySkills {
  const { environments, folder, git, inherited, signal, now, log } = options;
  const lookups = new Map<string, Lookup>();
  const known = new Map<string, FoundSkill[]>();

  async function look(spec: EnvironmentSpec, place: number): Promise<FoundSkill[]> {
    const enough = AbortSignal.any([signal, AbortSignal.timeout(mostLookMs)]);
    const of = repositoryOf(spec);
    if (spec.repository === null || of === null) return [];
    const clone = join(folder, String(place));
    const ask = (...args: string[]): Promise<GitEnd> =>
      git(
        { runId: `skills-${place}`, folder: clone, args: [`--git-dir=${clone}`, ...args], most: mostText },
        { ...inherited, ...spec.variables },
        enough,
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
    for (const path of await pathsIn(ask)) {
      const text = await ask("cat-file", "blob", `FETCH_HEAD:${path}`);
      if (text.kind !== "done") continue;
      found.push({ spec: `${of.owner}/${of.repo}:${path}`, environmentId: spec.id, text: text.output });
    }
    known.set(spec.id, found);
    return found;
  }

  function lookup(spec: EnvironmentSpec, place: number, anew: boolean): Lookup {
    const last = lookups.get(spec.id);
    if (last !== undefined && (!last.over || (!anew && now() - last.at < holdsForMs))) return last;
    const found = look(spec, place).catch((error: unknown) => {
      log.warn("a repository's skills can't be read", { environmentId: spec.id, error });
      return known.get(spec.id) ?? [];
    });
    const one = { at: now(), over: false, found };
    void found.then(() => {
      one.over = true;
    });
    lookups.set(spec.id, one);
    return one;
  }

  async function soon(spec: EnvironmentSpec, { at, found }: Lookup): Promise<readonly FoundSkill[]> {
    const late = Promise.withResolvers<readonly FoundSkill[]>();
    const timer = setTimeout(
      () => late.resolve(known.get(spec.id) ?? []),
      Math.max(0, at + patienceMs - now()),
    );
    return Promise.race([found, late.promise]).finally(() => clearTimeout(timer));
  }

  return {
    async find(anew) {
      const all = environments.map((spec, place) => soon(spec, lookup(spec, place, anew)));
      return (await Promise.all(all)).flat();
    },
    async quiet() {
      await Promise.all([...lookups.values()].map(({ found }) => found));
    },
  };
}

async function pathsIn(ask: (...args: string[]) => Promise<GitEnd>): Promise<string[]> {
  const folders = [".agents/skills/", ".claude/skills/", "skills/"];
  const listed = await ask("ls-tree", "-r", "-z", "--name-only", "FETCH_HEAD", "--", ...folders);
  if (listed.kind !== "done") return [];
  return listed.output
    .split("\0")
    .filter((path) => pathOfSkill.test(path))
    .slice(0, mostSkills);
}
