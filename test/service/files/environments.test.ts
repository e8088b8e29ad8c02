import { chmod, mkdir, readdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emptyCatalog } from "#service/catalog.ts";
import { eventually } from "#test/support/eventually.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { git, gitEnvironment, inApp, offering, repository } from "#test/support/service/git-repository.ts";
import { problemOf, serving } from "#test/support/service/serving.ts";

test("a run in an environment works in a set-up worktree of its repository with its variables", async () => {
  const { path } = await repository({ "greeting.txt": "hello from the repository\n" });
  const { api, folder } = await serving({
    environment: gitEnvironment,
    command: "echo the service's own command",
    catalog: offering({
      repository: path,
      setup: ["echo set up by $WHO > prepared.txt", 'cat prepared.txt; test -n "$AGENT_RUN_ID"'],
      command:
        'cat greeting.txt prepared.txt; echo "$WHO $AGENT_ENVIRONMENT_ID $AGENT_MODEL"; pwd; git status -sb',
      variables: { WHO: "the operator" },
    }),
  });
  const id = await api.create(inApp("Go.", { model_id: "large" }));
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)?.split("\n")).toEqual([
    "assistant: hello from the repository",
    "set up by the operator",
    "the operator app large",
    join(folder, "work", id),
    "## HEAD (no branch)",
    "?? prepared.txt",
  ]);
});

test("while its environment is prepared a run is PENDING and can't be cancelled", async () => {
  const { path } = await repository();
  const { api, folder } = await serving({
    environment: gitEnvironment,
    command: "cat",
    catalog: offering({ repository: path, setup: ["while ! test -e ../go; do sleep 0.02; done"] }),
  });
  const id = await api.create(inApp("first"));
  await api.until(id, "PENDING");
  expect(await problemOf(api.send("POST", `/agent/runs/${id}/cancel`))).toMatchObject({
    http: 409,
    retryable: true,
    type: expect.stringContaining("conflict"),
  });
  await api.followUp(id, "and second");
  expect(await api.said(id)).toEqual(["user: first", "user: and second"]);
  // The service may not even have begun to make the folders.
  await mkdir(join(folder, "work"), { recursive: true });
  await writeFile(join(folder, "work", "go"), "");
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toBe("assistant: first\n\nand second");
});

test("two runs at the same time work in two worktrees of one clone", async () => {
  const { path } = await repository();
  const { api, folder } = await serving({
    environment: gitEnvironment,
    command:
      "read name; echo $name > mine.txt; touch ../at-$name; git checkout -qb branch-$name; git add .; " +
      "git commit -qm $name; while ! test -e ../at-a -a -e ../at-b; do sleep 0.02; done; cat mine.txt; ls",
    catalog: offering({ repository: path }),
  });
  const ids = [await api.create(inApp("a")), await api.create(inApp("b"))];
  for (const [place, id] of ids.entries()) {
    await api.until(id, "SUCCEEDED");
    const name = "ab"[place];
    expect((await api.said(id)).at(-1)).toBe(`assistant: ${name}\nmine.txt\nreadme.txt`);
  }
  expect(await readdir(join(folder, "service", "repositories"))).toHaveLength(1);
});

test("a worktree starts at the environment's branch with everything pushed so far", async () => {
  const { path, commit } = await repository();
  await git(path, "checkout", "-q", "-b", "release/1");
  await commit({ "readme.txt": "released\n" });
  const { api } = await serving({
    environment: gitEnvironment,
    command: "cat readme.txt",
    catalog: offering({ repository: path, branch: "release/1" }),
  });
  const first = await api.create(inApp("x"));
  await api.until(first, "SUCCEEDED");
  expect((await api.said(first)).at(-1)).toBe("assistant: released");
  await commit({ "readme.txt": "released again\n" });
  const second = await api.create(inApp("x"));
  await api.until(second, "SUCCEEDED");
  expect((await api.said(second)).at(-1)).toBe("assistant: released again");
});

test("a run whose environment names a missing branch ends FAILED, and branch names are never taken for options", async () => {
  const { path } = await repository();
  const branches = [
    "missing",
    "--upload-pack=touch pwned;",
    "../../heads/main",
    "main~0",
    "main:main",
    "$(touch pwned)",
    "a b",
  ];
  const { environments } = offering({ repository: path });
  const { api, folder } = await serving({
    environment: gitEnvironment,
    command: "cat",
    catalog: {
      ...emptyCatalog,
      environments: environments.flatMap((spec) =>
        branches.map((branch, place) => ({ ...spec, id: String(place), branch })),
      ),
    },
  });
  for (const [place, branch] of branches.entries()) {
    const id = await api.create({ prompt: "x", config: { environment_id: String(place) } });
    const run = await api.until(id, "FAILED");
    expect(run.status_message).toMatchObject({
      message: `The repository has no branch ${JSON.stringify(branch)}.`,
      error_code: "environment_setup_failed",
      retryable: false,
    });
  }
  const found = await readdir(folder, { recursive: true });
  expect(found.filter((name) => name.includes("pwned"))).toEqual([]);
});

test("a repository that can't be fetched ends the run FAILED without revealing its password", async () => {
  const { api, lines } = await serving({
    environment: gitEnvironment,
    command: "cat",
    catalog: offering({ repository: "http://bot:hunter2hunter2@127.0.0.1:9/octo/app.git" }),
  });
  const id = await api.create(inApp("x"));
  const run = await api.until(id, "FAILED");
  expect(run.status_message?.message).toMatch(/^The repository could not be fetched: .*127\.0\.0\.1/s);
  expect(JSON.stringify([run, await api.said(id), lines])).not.toContain("hunter2");
});

test("a repository whose name looks like an option is not passed as one", async () => {
  const { api, folder } = await serving({
    environment: gitEnvironment,
    command: "cat",
    catalog: offering({ repository: "--upload-pack=touch ../../../pwned" }),
  });
  const run = await api.until(await api.create(inApp("x")), "FAILED");
  expect(run.status_message?.error_code).toBe("environment_setup_failed");
  expect(await readdir(folder)).not.toContain("pwned");
});

test("a failing set-up ends the run FAILED with its last lines and no secret; a follow-up tries again", async () => {
  const { path } = await repository();
  const { api, folder } = await serving({
    environment: gitEnvironment,
    command: "cat; cat ready.txt",
    catalog: offering({
      repository: path,
      setup: [
        "test ! -e half.txt; touch half.txt",
        "test -e ../mended || { for i in 1 2 3 4 5 6; do echo line $i; done; echo the key is $API_TOKEN >&2; exit 7; }",
        "echo ready > ready.txt",
      ],
      variables: { API_TOKEN: "sesame-open-please" },
    }),
  });
  const id = await api.create(inApp("Go."));
  const run = await api.until(id, "FAILED");
  expect(run.status_message).toMatchObject({ error_code: "environment_setup_failed", retryable: false });
  const reason = run.status_message?.message ?? "";
  expect(reason).toMatch(/^The set-up of app failed: .* ended with exit code 7: /);
  expect(reason).toMatch(/line 3\nline 4\nline 5\nline 6\nthe key is \*\*\*$/);
  expect(await api.said(id)).toEqual(["user: Go.", "assistant: ", `system: ${reason}`]);

  await writeFile(join(folder, "work", "mended"), "");
  await api.followUp(id, "Again.");
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toMatch(/Go\.[\s\S]*The set-up of app failed[\s\S]*Again\.\nready$/);
});

test("a set-up that takes too long is ended with everything it started", async () => {
  const { api, folder } = await serving({
    environment: gitEnvironment,
    command: "cat",
    timeoutMs: 1_000,
    catalog: offering({ setup: ["sleep 300 & echo $! > ../left; wait"] }),
  });
  const run = await api.until(await api.create(inApp("x")), "FAILED");
  expect(run.status_message).toMatchObject({
    message: "The set-up was stopped after 1 seconds.",
    error_code: "environment_setup_failed",
  });
  const left = (await readFile(join(folder, "work", "left"), "utf8")).trim();
  await eventually("its end", async () => {
    const stat = await readFile(`/proc/${left}/stat`, "utf8").catch(() => "");
    return stat === "" || stat.includes(") Z ") ? true : null;
  });
});

test("an unreachable repository is used as last fetched, and a note says so", async () => {
  const { path } = await repository();
  const { api } = await serving({
    environment: gitEnvironment,
    command: "cat readme.txt; cat",
    catalog: offering({ repository: path }),
  });
  await api.until(await api.create(inApp("x")), "SUCCEEDED");
  await rename(path, `${path}.away`);
  const id = await api.create(inApp("Go."));
  await api.until(id, "SUCCEEDED");
  const [, note, answer] = await api.said(id);
  expect(note).toMatch(/^system: The repository could not be fetched; this is its state of \d{4}-.*Z\.$/);
  expect(answer).toMatch(/^assistant: first\nGo\.\n\nNote: The repository could not be fetched/);
});

test("a pull request of the environment's repository has the worktree's branch", async () => {
  const { path } = await repository();
  const { api } = await serving({
    environment: gitEnvironment,
    command:
      "git checkout -qb fix/it; echo https://github.com/octo/app/pull/7 https://github.com/octo/other/pull/8",
    catalog: offering({ repository: path }),
  });
  const run = await api.until(await api.create(inApp("x")), "SUCCEEDED");
  expect(run.artifacts?.map(({ data }) => [data?.url, data?.branch])).toEqual([
    ["https://github.com/octo/app/pull/7", "fix/it"],
    ["https://github.com/octo/other/pull/8", ""],
  ]);
});

test("a user's global hooks don't run when a worktree is made", async () => {
  const { path } = await repository();
  const home = await freshFolder();
  const hook = join(home, "template", "hooks", "post-checkout");
  await mkdir(join(home, "template", "hooks"), { recursive: true });
  await writeFile(hook, `#!/bin/sh\ntouch ${home}/hooked\n`, { mode: 0o755 });
  await writeFile(
    join(home, "config"),
    `[init]\n\ttemplateDir = ${home}/template\n[core]\n\thooksPath = ${home}/template/hooks\n`,
  );
  const { api } = await serving({
    environment: { ...gitEnvironment, GIT_CONFIG_GLOBAL: join(home, "config"), GIT_DIR: "/nowhere" },
    command: "git rev-parse --is-inside-work-tree",
    catalog: offering({ repository: path }),
  });
  const id = await api.create(inApp("x"));
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toBe("assistant: true");
  expect(await readdir(home)).not.toContain("hooked");
});

test("git in a run without an environment ignores a repository around the run's folder", async () => {
  const { path } = await repository();
  const { api } = await serving({
    folder: path,
    environment: gitEnvironment,
    command: "git rev-parse --show-toplevel 2>/dev/null || echo none",
  });
  const id = await api.create({ prompt: "x" });
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toBe("assistant: none");
});

test("stopping the service ends a set-up and makes its run ERROR", async () => {
  const { path } = await repository();
  const options = {
    environment: gitEnvironment,
    command: "cat",
    catalog: offering({ repository: path, setup: ["test -e ../go || sleep 300"] }),
  };
  const first = await serving(options);
  const id = await first.api.create(inApp("x"));
  await first.api.until(id, "PENDING");
  await first.stop();
  await writeFile(join(first.folder, "work", "go"), "");
  const { api } = await serving({ ...options, folder: first.folder });
  expect(await api.run(id)).toMatchObject({
    state: "ERROR",
    status_message: { error_code: "resource_unavailable", retryable: true },
  });
  await api.followUp(id, "again");
  await api.until(id, "SUCCEEDED");
});

test("an environment without a repository gets an empty folder that is set up once", async () => {
  const { api } = await serving({
    environment: gitEnvironment,
    command: "cat tools.txt; cat > /dev/null",
    catalog: offering({ setup: ["echo tools >> tools.txt"] }),
  });
  const id = await api.create(inApp("x"));
  await api.until(id, "SUCCEEDED");
  await api.followUp(id, "again");
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).filter((text) => text.startsWith("assistant"))).toEqual([
    "assistant: tools",
    "assistant: tools",
  ]);
});

test.each([
  ["refs", "refs/remotes"],
  ["objects", "objects"],
])("a clone with damaged %s is reported, and a removed one is made again", async (_, part) => {
  const { path } = await repository();
  const { api, folder } = await serving({
    environment: gitEnvironment,
    command: "cat readme.txt",
    catalog: offering({ repository: path }),
  });
  await api.until(await api.create(inApp("x")), "SUCCEEDED");
  const clones = join(folder, "service", "repositories");
  const [name = ""] = await readdir(clones);
  const clone = join(clones, name);
  const files = await readdir(join(clone, part), { recursive: true, withFileTypes: true });
  for (const file of files.filter((each) => each.isFile())) {
    const damaged = join(file.parentPath, file.name);
    await chmod(damaged, 0o600);
    await truncate(damaged);
  }
  const run = await api.until(await api.create(inApp("x")), "FAILED");
  expect(run.status_message?.message).toMatch(/^The repository could not be (fetched|checked out): ./);
  const told = /If the service's clone is damaged, remove (.+): the next run/.exec(
    run.status_message?.message ?? "",
  );
  expect(told?.[1]).toBe(clone);
  await rm(clone, { recursive: true });
  await api.until(await api.create(inApp("x")), "SUCCEEDED");
});
