import { readFile } from "node:fs/promises";
import type { Skill } from "#agent-runs/schema.ts";
import { type Catalog, isRepository, type SkillSpec } from "#service/catalog.ts";
import type { FoundSkill } from "#service/files/repository-skills.ts";
import type { Run } from "#service/run/run-document.ts";
import { skillName } from "#service/run/skill-spec.ts";
import type { SkillsQuery } from "#service/wire/catalog-queries.ts";

type Variant = Skill["variants"][number];

/**
 * The declared skills and those found in the environments' repositories, grouped by name. A declared skill
 * hides a found one with the same short name. `newest` returns the last created run of a skill.
 */
export async function skillsOf(
  catalog: Catalog,
  query: SkillsQuery,
  found: readonly FoundSkill[],
  newest: (spec: string) => Promise<Run | null>,
): Promise<Skill[]> {
  const declared = await Promise.all(catalog.skills.map((skill) => declaredVariant(skill, catalog)));
  const names = new Set(declared.map(({ id }) => skillName(id).short));
  const others = [...Map.groupBy(found, ({ spec }) => spec)]
    .filter(([spec]) => !names.has(skillName(spec).short))
    .map(([spec, same]) =>
      variantOf(
        spec,
        same[0]?.text ?? "",
        null,
        same.map(({ environmentId }) => environmentId),
      ),
    );
  const asked = [...declared, ...others].filter(
    ({ id, error }) =>
      (query.repo === undefined || skillName(id).repository.toLowerCase() === query.repo.toLowerCase()) &&
      (error === undefined || query.include_malformed_skills),
  );
  const variants = await Promise.all(
    asked.map(async (each) => ({ ...each, ...(await lastRun(each, newest)) })),
  );
  const skills = [...Map.groupBy(variants, ({ id }) => skillName(id).name)].map(([name, of]) => ({
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

/** The time of the skill's last run, which may name the skill in either form. */
async function lastRun(
  { id }: Variant,
  newest: (spec: string) => Promise<Run | null>,
): Promise<Pick<Variant, "last_run_timestamp">> {
  const runs = await Promise.all([...new Set([id, skillName(id).short])].map(newest));
  const times = runs.flatMap((run) => (run === null ? [] : [run.createdAt]));
  return times.length === 0 ? {} : { last_run_timestamp: new Date(Math.max(...times)).toISOString() };
}

/** `text` is the SKILL.md. */
function variantOf(
  spec: string,
  text: string,
  description: string | null,
  environmentIds: readonly string[],
): Variant {
  const { repository, path } = skillName(spec);
  const [owner = "", name = ""] = repository.split("/");
  return {
    id: spec,
    description: description ?? descriptionIn(text),
    base_prompt: text,
    source: { owner, name, skill_path: path },
    environments: environmentIds.map((id) => ({ uid: id, name: id })),
  };
}

async function declaredVariant(
  { spec, description, file }: SkillSpec,
  { environments }: Catalog,
): Promise<Variant> {
  const { repository } = skillName(spec);
  const there = environments.filter((environment) => isRepository(environment.repository, repository));
  const text = await readFile(file, "utf8").catch(() => null);
  const ids = there.map(({ id }) => id);
  const variant = variantOf(spec, text ?? "", description, ids);
  return text === null ? { ...variant, error: "its file can't be read" } : variant;
}

/** The one-line description in the head of a SKILL.md; "" if it has none. */
function descriptionIn(text: string): string {
  const [, head = ""] = /^---\r?\n(.*?)\r?\n---\s/s.exec(text) ?? [];
  const [, line = ""] = /^description:[ \t]*([^>|\s].*)$/m.exec(head) ?? [];
  return line.trim().replace(/^(["'])(.*)\1$/, "$2");
}
