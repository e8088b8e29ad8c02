/** Real repositories in temporary folders, for runs to work in. */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Catalog, EnvironmentSpec } from "#service/catalog.ts";
import { emptyCatalog } from "#service/catalog.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { gitEnvironment } from "./git-environment.ts";

export { gitEnvironment } from "./git-environment.ts";

const run = promisify(execFile);

export async function git(folder: string, ...args: string[]): Promise<string> {
  const { stdout } = await run("git", args, { cwd: folder, env: gitEnvironment });
  return stdout.trim();
}

export interface Repository {
  readonly path: string;
  /** Writes files by their paths and commits them. */
  commit(files: Readonly<Record<string, string>>): Promise<void>;
}

/** A repository whose address ends in octo/app, with one commit on `main`. */
export async function repository(files: Readonly<Record<string, string>> = {}): Promise<Repository> {
  const path = join(await freshFolder(), "octo", "app");
  await mkdir(path, { recursive: true });
  await git(path, "init", "--quiet", "--initial-branch=main");
  const commit = async (more: Readonly<Record<string, string>>): Promise<void> => {
    for (const [name, text] of Object.entries(more)) {
      await mkdir(dirname(join(path, name)), { recursive: true });
      await writeFile(join(path, name), text);
    }
    await git(path, "add", "--all");
    await git(path, "commit", "--quiet", "--allow-empty", "--message=more");
  };
  await commit({ "readme.txt": "first\n", ...files });
  return { path, commit };
}

/** A catalog with the one environment `app`. */
export const offering = (spec: Partial<EnvironmentSpec>, rest: Partial<Catalog> = {}): Catalog => ({
  ...emptyCatalog,
  environments: [
    {
      id: "app",
      description: null,
      repository: null,
      branch: null,
      setup: [],
      command: null,
      variables: {},
      ...spec,
    },
  ],
  ...rest,
});

export const inApp = (prompt: string, config: object = {}) => ({
  prompt,
  config: { environment_id: "app", ...config },
});
