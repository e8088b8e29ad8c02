/** A skill's name on the wire, taken apart. */
export interface SkillName {
  /** `owner/repo`; "" if the spec names none. */
  readonly repository: string;
  /** The part after the colon: a name, or the path of a SKILL.md. */
  readonly path: string;
  /** The path's last part; the folder's name for a SKILL.md. */
  readonly name: string;
  /** `owner/repo:name`, also for a spec with a path. */
  readonly short: string;
}

/** Takes `owner/repo:name` or `owner/repo:path/to/SKILL.md` apart. */
export function skillName(spec: string): SkillName {
  const colon = spec.indexOf(":");
  const repository = spec.slice(0, Math.max(0, colon));
  const path = spec.slice(colon + 1);
  const parts = path.split("/");
  const last = parts.at(-1) ?? "";
  const name = last.toLowerCase() === "skill.md" ? (parts.at(-2) ?? last) : last;
  return { repository, path, name, short: `${repository}:${name}` };
}
