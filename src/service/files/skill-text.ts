import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import type { Catalog, EnvironmentSpec } from "#service/catalog.ts";

/** `folder` is where the skill's other files are; null if nobody but the service can say. */
export interface SkillText {
  readonly text: string;
  readonly folder: string | null;
}

const mostBytes = 200_000;
const skillFolders = [".agents/skills", ".claude/skills", "skills"];

/**
 * The text of the skill `owner/repo:name` or `owner/repo:path/to/SKILL.md`: a declared one's file, else what
 * the run's own worktree has if it is of that repository. null if there is none that may be read.
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
  const [, owner = "", wanted = ""] = /^([^:]*):(.*)$/s.exec(spec) ?? [];
  if (environment?.repository == null || !isOf(environment.repository, owner)) return null;
  for (const path of placesOf(wanted)) {
    const found = await readInside(worktree, path);
    if (found !== null) return found;
  }
  return null;
}

/** Where in a repository the skill may be; nothing that could lead out of it. */
function placesOf(wanted: string): readonly string[] {
  const parts = wanted.split("/");
  if (parts.some((part) => part === "" || part === "." || part === ".." || /[\\\0]/.test(part))) return [];
  if (parts.length > 1 || /\.md$/i.test(wanted)) return [wanted];
  return skillFolders.map((folder) => `${folder}/${wanted}/SKILL.md`);
}

/** An agent may have put a link there since: what counts is where the file really is. */
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

/** null if it can't be read, or is no file. */
async function readBounded(path: string): Promise<string | null> {
  // Without waiting: a pipe would never open.
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

/** Whether the repository's address ends in `owner/repo`. */
export function isOf(repository: string, owner: string): boolean {
  const parts = repository
    .replace(/\/+$/, "")
    .replace(/\.git$/i, "")
    .split(/[/:\\]/);
  return parts.slice(-2).join("/").toLowerCase() === owner.toLowerCase();
}
