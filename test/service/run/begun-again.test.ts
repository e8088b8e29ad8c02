/** A follow-up arrives while the files of the run's earlier turns are being removed. */
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emptyCatalog } from "#service/catalog.ts";
import { createGit } from "#service/files/git.ts";
import { removeOldFiles } from "#service/files/old-files.ts";
import { createRepositories } from "#service/files/repositories.ts";
import { createWorkplaces } from "#service/files/workplaces.ts";
import { createRunProcess } from "#service/processes/run-process.ts";
import { createStartedProcesses } from "#service/processes/started-processes.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { silentLog } from "#test/support/logs.ts";
import { documentOf } from "#test/support/service/stored-runs.ts";

test("a new empty folder is made after the removal of the old one and survives it", async () => {
  const folder = await freshFolder();
  const process = createRunProcess(createStartedProcesses(join(folder, "processes"), 500, silentLog), 500);
  const git = createGit(process);
  const workplaces = createWorkplaces({
    catalog: emptyCatalog,
    workDir: join(folder, "work"),
    recordDir: join(folder, "worktrees"),
    repositories: createRepositories(join(folder, "repositories"), git, Date.now),
    git,
    run: process,
    inherited: {},
    now: Date.now,
    log: silentLog,
  });
  const { run } = documentOf(1, { prompt: "x" });
  const { signal } = new AbortController();
  const path = workplaces.folderOf(run);
  await workplaces.prepare(run, signal);
  await writeFile(join(path, "old.txt"), "");

  const begun = Promise.withResolvers<void>();
  const begin = async (): Promise<void> => {
    await workplaces.prepare(run, signal);
    await writeFile(join(path, "new.txt"), "");
  };
  const isOver = (): boolean => {
    begun.resolve(begin());
    return true;
  };
  await workplaces.removeOld(isOver, signal);
  await begun.promise;
  expect(await readdir(path)).toEqual(["new.txt"]);
});

test("new artifacts are not removed with the old ones", async () => {
  const folder = await freshFolder();
  const { run } = documentOf(1, { prompt: "x" });
  const path = join(folder, run.id);
  await mkdir(path);
  await writeFile(join(path, "old.txt"), "");
  const isOver = (): boolean => {
    queueMicrotask(() => {
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, "new.txt"), "");
    });
    return true;
  };
  await removeOldFiles(folder, { isOver, signal: new AbortController().signal, log: silentLog });
  expect(await readdir(folder)).toEqual([run.id]);
  expect(await readdir(path)).toEqual(["new.txt"]);
});
