import { readFile } from "node:fs/promises";
import type { Skill } from "../agent-runs/schema.ts";
import type { Catalog, SkillSpec } from "./catalog.ts";
import type { SkillsQuery } from "./catalog-queries.ts";
import { repositoryOf } from "./catalog-wire.ts";
import type { Run } from "./run-document.ts";

type Variant = Skill["variants"][number];

/** `newest` is the run that was created last of those that were started from the skill. */
export async function skillsOf(
  catalog: Catalog,
  query: SkillsQuery,
  newest: (spec: string) => Promise<Run | null>,
): Promise<Skill[]> {
  const asked = catalog.skills.filter(({ spec }) => query.repo === undefined || repoOf(spec) === query.repo);
  const variants = await Promise.all(asked.map((skill) => variantOf(skill, catalog, newest)));
  const shown = variants.filter(({ error }) => error === undefined || query.include_malformed_skills);
  const skills = [...Map.groupBy(shown, ({ id }) => nameOf(id))].map(([name, of]) => ({
    name,
    variants: of,
  }));
  const lastRun = ({ variants: of }: Skill): string =>
    of.reduce((latest, { last_run_timestamp: at }) => (at && at > latest ? at : latest), "");
  return skills.sort((a, b) => {
    const byRun = query.sort_by === "last_run" ? lastRun(b).localeCompare(lastRun(a)) : 0;
    return byRun || a.name.localeCompare(b.name);
  });
}

/** `owner/repo` of `owner/repo:name`. */
const repoOf = (spec: string): string => spec.slice(0, spec.indexOf(":"));

/** The name, or in a path to a SKILL.md that of its folder. */
function nameOf(spec: string): string {
  const parts = spec.slice(spec.indexOf(":") + 1).split("/");
  const last = parts.at(-1) ?? "";
  return last.toLowerCase() === "skill.md" ? (parts.at(-2) ?? last) : last;
}

async function variantOf(
  { spec, description, file }: SkillSpec,
  { environments }: Catalog,
  newest: (spec: string) => Promise<Run | null>,
): Promise<Variant> {
  const [owner = "", name = ""] = repoOf(spec).split("/");
  const run = await newest(spec);
  const there = environments.filter((environment) => {
    const repository = repositoryOf(environment);
    return repository?.owner === owner && repository.repo === name;
  });
  const text = await readFile(file, "utf8").catch(() => null);
  return {
    id: spec,
    description: description ?? "",
    base_prompt: text ?? "",
    source: { owner, name, skill_path: spec.slice(spec.indexOf(":") + 1) },
    environments: there.map(({ id }) => ({ uid: id, name: id })),
    ...(run === null ? {} : { last_run_timestamp: new Date(run.createdAt).toISOString() }),
    ...(text === null ? { error: "its file can't be read" } : {}),
  };
}
