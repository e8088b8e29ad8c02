/** Whether a request's names are among the operator's declarations. Where none is declared, any name is accepted. */
import { type Catalog, isRepository } from "#service/catalog.ts";
import type { RepositorySkills } from "#service/files/repository-skills.ts";
import { skillName } from "#service/run/skill-spec.ts";
import { type Refused, refused } from "#service/wire/problem.ts";

/** Refuses an id that is not declared, if any are. */
export function notAmong(
  field: string,
  id: string | null | undefined,
  declared: readonly { readonly id: string }[],
): Refused | null {
  if (!id || declared.length === 0 || declared.some((each) => each.id === id)) return null;
  return refused(
    "invalid_request",
    `${field}: it must be one of ${namesOf(declared.map((each) => each.id))}`,
  );
}

/**
 * Refuses a skill that is neither declared nor in an environment's repository, if any is declared. A repository that
 * can't be read may have it, and so may one for which the request gives a path, which may be anywhere in it.
 */
export async function unknownSkill(
  spec: string | null,
  { environments, skills: declared }: Catalog,
  repositories: Pick<RepositorySkills, "find" | "known">,
): Promise<Refused | null> {
  if (spec === null || declared.length === 0 || declared.some((each) => each.spec === spec)) return null;
  const { repository, path, name } = skillName(spec);
  const there = environments.filter((each) => isRepository(each.repository, repository));
  if (there.length > 0 && path !== name) return null;
  const has = ({ id }: { readonly id: string }): boolean | null =>
    repositories.known(id)?.some((each) => skillName(each.spec).name === name) ?? null;
  if (there.some(has)) return null;
  if (there.length > 0) await repositories.find(false);
  if (there.some((each) => has(each) !== false)) return null;
  const names = namesOf(declared.map((each) => each.spec));
  return refused("invalid_request", `skill: ${spec.slice(0, 200)} is not known; GET /agent lists ${names}`);
}

const mostNames = 50;

const namesOf = (names: readonly string[]): string =>
  names.length <= mostNames ? names.join(", ") : `${names.slice(0, mostNames).join(", ")}, …`;
