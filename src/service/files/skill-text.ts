import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { type Catalog, type EnvironmentSpec, isRepository } from "#service/catalog.ts";
import { skillName } from "#service/run/skill-spec.ts";

/** A SKILL.md and the folder with the skill's other files. */
export interface SkillText {
  readonly text: string;
  readonly folder: string;
}

const mostBytes = 200_000;
/** The folders of a repository that hold skills, each in a folder of its own. */
export const skillFolders = [".agents/skills", ".claude/skills", "skills"];

/**
 * The text of a run's skill: of the declared skill, or else from the run's worktree if that is of the skill's
 * repository. null if there is none that may be read.
 */
export async function skillText(
  spec: string,
  catalog: Catalog,
  environment: EnvironmentSpec | null,
  worktree: string,
): Promise<SkillText | null> {
  const declared = catalog.skills.find((skill) => skill.spec === spec);
  if (declared !== undefined) {
    const text = await readBounded(declared.file);
    return text === null ? null : { text, folder: dirname(declared.file) };
  }
  const { repository, path: wanted } = skillName(spec);
  if (!isRepository(environment?.repository ?? null, repository)) return null;
  for (const path of pathsOf(wanted)) {
    const found = await readInside(worktree, path);
    if (found !== null) return found;
  }
  return null;
}

/** The paths in a repository where the skill may be. None of them leads out of it. */
function pathsOf(wanted: string): readonly string[] {
  const parts = wanted.split("/");
  if (parts.some((part) => part === "" || part === "." || part === ".." || /[\\\0]/.test(part))) return [];
  if (parts.length > 1 || /\.md$/i.test(wanted)) return [wanted];
  return skillFolders.map((folder) => `${folder}/${wanted}/SKILL.md`);
}

/** Reads a file whose real path is inside the worktree: an agent may have put a link in its place. */
async function readInside(worktree: string, path: string): Promise<SkillText | null> {
  try {
    const [root, file] = await Promise.all([realpath(worktree), realpath(join(worktree, path))]);
    if (!file.startsWith(root + sep)) return null;
    const text = await readBounded(file);
    return text === null ? null : { text, folder: dirname(file) };
  } catch {
    return null;
  }
}

/** The beginning of the file; null if it can't be read or is not an ordinary file. */
async function readBounded(path: string): Promise<string | null> {
  // Without O_NONBLOCK, opening a pipe would wait for ever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null);
  if (file === null) return null;
  try {
    if (!(await file.stat()).isFile()) return null;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(mostBytes), 0, mostBytes, 0);
    return buffer.subarray(0, bytesRead).toString("utf8");
  } catch {
    return null;
  } finally {
    await file.close();
  }
}
