import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { alive } from "#test/support/processes.ts";
import { childServing } from "#test/support/service/child-serving.ts";
import { gitEnvironment, inApp, offering, repository } from "#test/support/service/git-repository.ts";
import { serving } from "#test/support/service/serving.ts";

const pidIn = (folder: string, name = "pid"): Promise<number> =>
  eventually(
    "a process",
    async () => Number(await readFile(join(folder, "work", name), "utf8").catch(() => "")) || null,
  );

test("a run that was being set up when the service was killed becomes ERROR and is prepared again on a follow-up", async () => {
  const folder = await freshFolder();
  const { path } = await repository();
  const setup = [
    "ls >> ../seen.txt; touch half.txt",
    "test -e ../mended || { echo $$ > ../pid; sleep 300; echo never > ../never; }",
  ];
  const catalog = offering({ repository: path, setup });
  const before = await childServing(folder, "cat", { catalog });
  const preparing = await before.api.create(inApp("first"));
  const queued = await before.api.create(inApp("second"));
  const pid = await pidIn(folder);
  expect((await before.api.run(preparing)).state).toBe("PENDING");
  await before.killed();
  expect(alive(pid)).toBe(true);
  await writeFile(join(folder, "work", "mended"), "");

  const { api, lines } = await serving({ folder, environment: gitEnvironment, command: "cat; ls", catalog });

  expect(alive(pid)).toBe(false);
  const message = "The service was stopped while the run was being prepared.";
  expect((await api.run(preparing)).status_message).toEqual({
    message,
    error_code: "resource_unavailable",
    retryable: true,
  });
  expect((await api.run(preparing)).state).toBe("ERROR");
  await api.until(queued, "SUCCEEDED");
  expect(lines.filter((line) => line.message === "a turn begins")).toHaveLength(1);
  await api.followUp(preparing, "go on");
  await api.until(preparing, "SUCCEEDED");
  const said = await api.said(preparing);
  expect(said.slice(0, -1)).toEqual(["user: first", `system: ${message}`, "user: go on"]);
  expect(said.at(-1)).toMatch(/first[\s\S]*go on\nhalf\.txt\nreadme\.txt$/);
  expect(said.at(-1)).not.toContain("made again");
  // Each set-up began in an empty folder.
  expect(await readFile(join(folder, "work", "seen.txt"), "utf8")).toBe("readme.txt\n".repeat(3));
  expect(await readdir(join(folder, "work"))).not.toContain("never");
});

test("an agent's output is kept when the service is killed, and the run continues in its worktree", async () => {
  const folder = await freshFolder();
  const { path } = await repository();
  const catalog = offering({ repository: path, variables: { DEPLOY_KEY: "sesame-open" } });
  const command =
    "test -e mine.txt && { cat mine.txt; exit; }; echo mine > mine.txt; echo half the work, $DEPLOY_KEY; " +
    "echo $$ > ../pid; sleep 300";
  const before = await childServing(folder, command, { catalog });
  const id = await before.api.create(inApp("Go."));
  const pid = await pidIn(folder);
  await eventually("the words on disk", async () => {
    const names = await readdir(join(folder, "service", "output")).catch(() => []);
    const texts = names.map((name) => readFile(join(folder, "service", "output", name), "utf8"));
    return (await Promise.all(texts)).join("").includes("half the work") ? true : null;
  });
  await before.killed();

  const { api } = await serving({ folder, environment: gitEnvironment, command, catalog });

  expect(alive(pid)).toBe(false);
  expect((await api.run(id)).state).toBe("ERROR");
  expect(await api.said(id)).toEqual([
    "user: Go.",
    "assistant: half the work, ***",
    "system: The service was stopped while the agent was working.",
  ]);
  expect(await readdir(join(folder, "service", "output")).catch(() => [])).toEqual([]);
  await api.followUp(id, "go on");
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toBe("assistant: mine");
});

test("a fetch of a killed service is ended and its locks are removed", async () => {
  const folder = await freshFolder();
  const { path } = await repository();
  const catalog = offering({ repository: path });
  const before = await childServing(folder, "cat", { catalog });
  await before.api.until(await before.api.create(inApp("first")), "SUCCEEDED");
  const [clone = ""] = await readdir(join(folder, "service", "repositories"));
  await before.killed();
  const repositories = join(folder, "service", "repositories");
  for (const name of ["config.lock", "packed-refs.lock", join("refs", "remotes", "origin", "main.lock")]) {
    await writeFile(join(repositories, clone, name), "");
  }
  const hanging = `sh -c 'echo $$ > ${join(folder, "work", "ssh-pid")}; sleep 300'`;
  const other = offering({ repository: "ssh://nowhere/octo/app", variables: { GIT_SSH_COMMAND: hanging } });
  const between = await childServing(folder, "cat", { catalog: other });
  const fetching = await between.api.create(inApp("second"));
  const pid = await pidIn(folder, "ssh-pid");
  expect((await between.api.run(fetching)).state).toBe("PENDING");
  await between.killed();
  expect(alive(pid)).toBe(true);

  const { api } = await serving({ folder, environment: gitEnvironment, command: "cat", catalog });

  expect(alive(pid)).toBe(false);
  expect((await api.run(fetching)).state).toBe("ERROR");
  const id = await api.create(inApp("third"));
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).map((text) => text.split(":")[0])).toEqual(["user", "assistant"]);
});

test("a fetch that hangs ends at the time limit and does not block other clones", async () => {
  const { path } = await repository();
  const spec = { description: null, branch: null, setup: [], command: null };
  const { api } = await serving({
    environment: gitEnvironment,
    command: "cat",
    timeoutMs: 2_500,
    catalog: {
      ...offering({}),
      environments: [
        { ...spec, id: "app", repository: path, variables: {} },
        {
          ...spec,
          id: "stuck",
          repository: "ssh://nowhere/x",
          variables: { GIT_SSH_COMMAND: "sleep 300;:" },
        },
      ],
    },
  });
  const stuck = await api.create({ prompt: "x", config: { environment_id: "stuck" } });
  await api.until(stuck, "PENDING");
  await api.until(await api.create(inApp("x")), "SUCCEEDED");
  const run = await api.until(stuck, "FAILED");
  expect(run.status_message).toMatchObject({
    message: "The set-up was stopped after 2.5 seconds.",
    error_code: "environment_setup_failed",
  });
});
