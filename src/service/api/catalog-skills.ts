import { readFile } from "node:fs/promises";
import type { Skill } from "#agent-runs/schema.ts";
import type { Catalog, SkillSpec } from "#service/catalog.ts";
import type { FoundSkill } from "#service/files/repository-skills.ts";
import type { Run } from "#service/run/run-document.ts";
import type { SkillsQuery } from "#service/wire/catalog-queries.ts";
import { repositoryOf } from "./catalog-wire.ts";

type Variant = Skill["variants"][number];

export interface SkillsOptions {
  readonly catalog: Catalog;
  readonly query: SkillsQuery;
  /** What the environments' repositories have. */
  readonly found: readonly FoundSkill[];
  /** The run that was created last of those that were started from the skill. */
  readonly newest: (spec: string) => Promise<Run | null>;
}

/** The declared skills and those that were found, grouped by name; a declared one goes before one that was found. */
export async function skillsOf({ catalog, query, found, newest }: SkillsOptions): Promise<Skill[]> {
  const declared = await Promise.all(catalog.skills.map((skill) => declaredVariant(skill, catalog)));
  const names = new Set(declared.map(({ id }) => shortOf(id)));
  const others = [...Map.groupBy(found, ({ spec }) => spec)]
    .filter(([spec]) => !names.has(shortOf(spec)))
    .map(([, same]) => foundVariant(same));
  const asked = [...declared, ...others].filter(
    ({ id, error }) =>
      (query.repo === undefined || repoOf(id).toLowerCase() === query.repo.toLowerCase()) &&
      (error === undefined || query.include_malformed_skills),
  );
  const variants = await Promise.all(
    asked.map(async (each) => ({ ...each, ...(await lastRun(each, newest)) })),
  );
  const skills = [...Map.groupBy(variants, ({ id }) => nameOf(id))].map(([name, of]) => ({
    name,
    variants: of,
  }));
  return skills.sort((a, b) => {
    const byRun = query.sort_by === "last_run" ? latest(b).localeCompare(latest(a)) : 0;
    return byRun || a.name.localeCompare(b.name);
  });
}

const latest = ({ variants }: Skill): string =>
  variants.reduce((last, { last_run_timestamp: at }) => (at && at > last ? at : last), "");

/** Under whichever of its two names the skill was asked for. */
async function lastRun(
  { id }: Variant,
  newest: SkillsOptions["newest"],
): Promise<Pick<Variant, "last_run_timestamp">> {
  const runs = await Promise.all([...new Set([id, shortOf(id)])].map(newest));
  const times = runs.flatMap((run) => (run === null ? [] : [run.createdAt]));
  return times.length === 0 ? {} : { last_run_timestamp: new Date(Math.max(...times)).toISOString() };
}

/** `owner/repo` of `owner/repo:name`. */
const repoOf = (spec: string): string => spec.slice(0, spec.indexOf(":"));
const pathOf = (spec: string): string => spec.slice(spec.indexOf(":") + 1);

/** `owner/repo:name`, also of a spec with a path. */
const shortOf = (spec: string): string => `${repoOf(spec)}:${nameOf(spec)}`;

/** The name, or in a path to a SKILL.md that of its folder. */
function nameOf(spec: string): string {
  const parts = pathOf(spec).split("/");
  const last = parts.at(-1) ?? "";
  return last.toLowerCase() === "skill.md" ? (parts.at(-2) ?? last) : last;
}

function sourceOf(spec: string): NonNullable<Variant["source"]> {
  const [owner = "", name = ""] = repoOf(spec).split("/");
  return { owner, name, skill_path: pathOf(spec) };
}

async function declaredVariant(
  { spec, description, file }: SkillSpec,
  { environments }: Catalog,
): Promise<Variant> {
  const there = environments.filter((environment) => {
    const repository = repositoryOf(environment);
    return repository !== null && `${repository.owner}/${repository.repo}` === repoOf(spec);
  });
  const text = await readFile(file, "utf8").catch(() => null);
  return {
    id: spec,
    description: description ?? descriptionIn(text ?? ""),
    base_prompt: text ?? "",
    source: sourceOf(spec),
    environments: there.map(({ id }) => ({ uid: id, name: id })),
    ...(text === null ? { error: "its file can't be read" } : {}),
  };
}

/** `same`: the skill in each environment that has its repository. */
function foundVariant(same: readonly FoundSkill[]): Variant {
  const { spec = "", text = "" } = same[0] ?? {};
  return {
    id: spec,
    description: descriptionIn(text),
    base_prompt: text,
    source: sourceOf(spec),
    environments: same.map(({ environmentId }) => ({ uid: environmentId, name: environmentId })),
  };
}

/** What the head of a SKILL.md says of it on one line; "" if it says nothing. */
function descriptionIn(text: string): string {
  const [, head = ""] = /^---\r?\n(.*?)\r?\n---\s/s.exec(text) ?? [];
  const [, line = ""] = /^description:[ \t]*([^>|\s].*)$/m.exec(head) ?? [];
  return line.trim().replace(/^(["'])(.*)\1$/, "$2");
}
