/** The life of worktrees and their replacement. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { gitEnvironment, inApp, offering, repository } from "#test/support/service/git-repository.ts";
import { serving } from "#test/support/service/serving.ts";

const worker =
  "test -e mine.txt && echo again; git checkout -qb fix 2>/dev/null; echo more >> mine.txt; " +
  "git add .; git commit -qm more; echo draft > draft.txt; wc -l < mine.txt; git branch --show-current; cat";

test("a follow-up continues in the same worktree, also after a restart", async () => {
  const { path } = await repository();
  const options = {
    environment: gitEnvironment,
    command: worker,
    catalog: offering({ repository: path, setup: ["echo x >> ../set-up-count"] }),
  };
  const first = await serving(options);
  const id = await first.api.create(inApp("one"));
  await first.api.until(id, "SUCCEEDED");
  await first.api.followUp(id, "two");
  await first.api.until(id, "SUCCEEDED");
  expect((await first.api.said(id)).at(-1)).toMatch(/^assistant: again\n2\nfix\n[\s\S]*one[\s\S]*two$/);
  await first.stop();

  const { api, folder } = await serving({ ...options, folder: first.folder });
  await api.followUp(id, "three");
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toMatch(/^assistant: again\n3\nfix\n[\s\S]*one[\s\S]*two[\s\S]*three$/);
  expect(await readFile(join(folder, "work", "set-up-count"), "utf8")).toBe("x\n");
});

test("a worktree that was deleted by hand is made again on its branch, with a note to the agent", async () => {
  const { path } = await repository();
  const { api, folder } = await serving({
    environment: gitEnvironment,
    command: `ls; ${worker}`,
    catalog: offering({ repository: path }),
  });
  const id = await api.create(inApp("one"));
  await api.until(id, "SUCCEEDED");
  await rm(join(folder, "work", id), { recursive: true });
  await api.followUp(id, "two");
  await api.until(id, "SUCCEEDED");
  const said = await api.said(id);
  expect(said.at(-2)).toMatch(/^system: The run's folder was made again/);
  expect(said.at(-1)).toMatch(
    /^assistant: mine\.txt\nreadme\.txt\nagain\n2\nfix\n[\s\S]*Note: The run's folder was/,
  );
});

test("an agent that removes its own worktree gets its branch and commits back", async () => {
  const { path } = await repository();
  const { api } = await serving({
    environment: gitEnvironment,
    command: `if test -e mine.txt; then git branch --show-current; rm -rf "$PWD"; echo removed; else ${worker}; fi`,
    catalog: offering({ repository: path }),
  });
  const id = await api.create(inApp("one"));
  await api.until(id, "SUCCEEDED");
  await api.followUp(id, "two");
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toBe("assistant: fix\nremoved");
  await api.followUp(id, "three");
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toBe("assistant: fix\nremoved");
});

test("a clone that was deleted by hand is made again without a restart", async () => {
  const { path } = await repository();
  const { api, folder } = await serving({
    environment: gitEnvironment,
    command: "git log --format=%s",
    catalog: offering({ repository: path }),
  });
  await api.until(await api.create(inApp("one")), "SUCCEEDED");
  await rm(join(folder, "service", "repositories"), { recursive: true });
  const id = await api.create(inApp("two"));
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toMatch(/^assistant: \S/);
});

test("a run whose environment is no longer declared continues in its folder while that exists", async () => {
  const { path } = await repository();
  const options = { environment: gitEnvironment, command: worker };
  const first = await serving({ ...options, catalog: offering({ repository: path }) });
  const id = await first.api.create(inApp("one"));
  await first.api.until(id, "SUCCEEDED");
  await first.stop();
  const { api, folder } = await serving({ ...options, folder: first.folder });
  await api.followUp(id, "two");
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toMatch(/^assistant: again\n2\nfix\n/);
  await rm(join(folder, "work", id), { recursive: true });
  await api.followUp(id, "three");
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-2)).toMatch(/^system: The folder of the run's earlier turns is gone/);
});

test("only one git process at a time runs in a clone", async () => {
  const { path } = await repository();
  const bin = await freshFolder();
  // An existing folder means that another git is running.
  const wrapper =
    `#!/bin/sh\nPATH=\${PATH#*:}\ncase "$*" in *--git-dir=*) ;; *) exec git "$@";; esac\n` +
    `mkdir ${bin}/busy || touch ${bin}/overlap\necho "$@" >> ${bin}/calls\n` +
    `sleep 0.02; git "$@"; code=$?\nrmdir ${bin}/busy; exit $code\n`;
  await mkdir(join(bin, "bin"));
  await writeFile(join(bin, "bin", "git"), wrapper, { mode: 0o755 });
  const { api } = await serving({
    environment: { ...gitEnvironment, PATH: `${join(bin, "bin")}:${gitEnvironment.PATH}` },
    command: "cat readme.txt",
    catalog: offering({ repository: path }),
  });
  const ids = await Promise.all(["a", "b", "c", "d", "e"].map((prompt) => api.create(inApp(prompt))));
  for (const id of ids) {
    await api.until(id, "SUCCEEDED");
    expect((await api.said(id)).at(-1)).toBe("assistant: first");
  }
  expect((await readFile(join(bin, "calls"), "utf8")).match(/ fetch /g)).toHaveLength(5);
  expect(await readdir(bin)).not.toContain("overlap");
});

test("worktrees of runs that ended long ago are removed and made again for a follow-up", async () => {
  const { path } = await repository();
  const options = { environment: gitEnvironment, command: worker, catalog: offering({ repository: path }) };
  const first = await serving(options);
  const id = await first.api.create(inApp("one"));
  await first.api.until(id, "SUCCEEDED");
  await first.stop();

  const kept = await serving({ ...options, folder: first.folder, keepWorktreesMs: 3_600_000 });
  await kept.api.until(await kept.api.create(inApp("x")), "SUCCEEDED");
  expect(await readdir(join(first.folder, "work"))).toContain(id);
  await kept.stop();

  const { api, folder } = await serving({ ...options, folder: first.folder, keepWorktreesMs: 0 });
  await eventually(
    "the worktrees to be removed",
    async () => (await readdir(join(folder, "work"))).length === 0,
  );
  await api.followUp(id, "two");
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toMatch(/^assistant: again\n2\nfix\n/);
});
