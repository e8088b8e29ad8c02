import { access, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { alive } from "#test/support/processes.ts";
import { serving } from "#test/support/service/serving.ts";

const whenWritten = (path: string): Promise<string> =>
  eventually(path, async () => (await readFile(path, "utf8").catch(() => "")) || null);

test("a run starts as QUEUED, and its command's output is the answer", async () => {
  const { api } = await serving({ command: "cat" });
  const answer = await api.send("POST", "/agent/run", {
    prompt: "Fix the flaky test.",
    config: { name: "bot" },
  });
  const created = await answer.json();
  expect(created).toMatchObject({ state: "QUEUED", task_id: created.run_id });

  const run = await api.until(created.run_id, "SUCCEEDED");

  expect(run).toMatchObject({
    title: "Fix the flaky test.",
    prompt: "Fix the flaky test.",
    agent_config: { name: "bot" },
    source: "API",
    creator: { type: "service_account" },
    run_time: expect.stringMatching(/^PT[\d.]+S$/),
    started_at: expect.any(String),
  });
  expect(await api.said(run.run_id)).toEqual(["user: Fix the flaky test.", "assistant: Fix the flaky test."]);
});

test("the base prompt and the skill come before the prompt", async () => {
  const { api } = await serving({ command: "cat" });
  const id = await api.create({
    prompt: "Go.",
    skill: "octo/app:skills/release/SKILL.md",
    config: { base_prompt: "Be brief." },
  });
  const run = await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toBe(
    "assistant: Be brief.\n\nUse the skill octo/app:skills/release/SKILL.md.\n\nGo.",
  );
  expect(run.agent_config?.name).toBe("release");
});

test("each run works in its own empty folder", async () => {
  const { api, folder } = await serving({ command: "pwd; ls -A | wc -l; touch mark" });
  const ids = [await api.create({ prompt: "a" }), await api.create({ prompt: "b" })];
  for (const id of ids) {
    await api.until(id, "SUCCEEDED");
    const [, answer] = await api.said(id);
    expect(answer?.split(/\s+/)).toEqual(["assistant:", join(folder, "work", id), "0"]);
  }
});

test("a failing command makes the run FAILED with its exit code and last lines", async () => {
  const { api } = await serving({
    command: "echo half done; for i in 1 2 3 4 5 6 7; do echo line $i >&2; done; exit 3",
  });
  const id = await api.create({ prompt: "x" });
  const run = await api.until(id, "FAILED");
  const reason = "The agent's command ended with exit code 3: line 3\nline 4\nline 5\nline 6\nline 7";
  expect(run.status_message?.message).toBe(reason);
  expect(await api.said(id)).toEqual(["user: x", "assistant: half done", `system: ${reason}`]);
});

test("a run whose command is stopped by a signal names the signal", async () => {
  const { api } = await serving({ command: "kill -KILL $$" });
  const run = await api.until(await api.create({ prompt: "x" }), "FAILED");
  expect(run.status_message?.message).toBe("The agent's command was stopped by SIGKILL.");
});

test("a turn without output has an empty answer, not the previous turn's", async () => {
  const { api } = await serving({ command: "test -e mark || echo first; touch mark" });
  const id = await api.create({ prompt: "x" });
  await api.until(id, "SUCCEEDED");
  await api.followUp(id, "again");
  const run = await api.until(id, "SUCCEEDED");
  expect(run.state).toBe("SUCCEEDED");
  expect(await api.said(id)).toEqual(["user: x", "assistant: first", "user: again", "assistant: "]);
});

test("a run whose folder can't be made ends in ERROR", async () => {
  const folder = await freshFolder();
  await writeFile(join(folder, "no-folder"), "");
  const { api } = await serving({ command: "cat", folder, workDir: join(folder, "no-folder") });
  const run = await api.until(await api.create({ prompt: "x" }), "ERROR");
  expect(run.status_message).toMatchObject({ error_code: "environment_setup_failed", retryable: false });
});

test("the answer can be read while it is written", async () => {
  const { api } = await serving({ command: "echo so far; sleep 60" });
  const id = await api.create({ prompt: "x" });
  await eventually("the words", async () => (await api.said(id)).includes("assistant: so far"));
  expect((await api.run(id)).state).toBe("INPROGRESS");
});

test("the end of an endless answer is kept", async () => {
  const { api } = await serving({
    command: `node -e 'process.stdout.write("x".repeat(3e6) + "the end")'`,
  });
  const id = await api.create({ prompt: "x" });
  await api.until(id, "SUCCEEDED");
  const answer = (await api.said(id)).at(-1) ?? "";
  expect(answer).toMatch(/^assistant: \[The beginning is left out\.\]\nx+the end$/);
  expect(answer.length).toBeLessThan(300_000);
});

test("each pull request in the answer becomes one artifact", async () => {
  const { api } = await serving({
    command: `echo 'See https://github.com/octo/app/pull/7, (https://github.com/octo/app/pull/7) and
      <https://git.example.com:8443/a.b/c-d/pull/12>. Not https://github.com/octo/app/issues/7.'`,
  });
  const run = await api.until(await api.create({ prompt: "x" }), "SUCCEEDED");
  expect(run.artifacts?.map(({ artifact_type, data }) => [artifact_type, data?.url])).toEqual([
    ["PULL_REQUEST", "https://github.com/octo/app/pull/7"],
    ["PULL_REQUEST", "https://git.example.com:8443/a.b/c-d/pull/12"],
  ]);
});

test("the command's environment has its run and model and none of the bot's secrets", async () => {
  const secrets = {
    SLACK_BOT_TOKEN: "xoxb-secret",
    SLACK_SIGNING_SECRET: "signing-secret",
    GITHUB_TOKEN: "ghp-secret",
    GITHUB_PRIVATE_KEY: "pem-secret",
    AGENT_API_KEY: "api-secret",
    DATABASE_URL: "postgres://secret",
  };
  const { api } = await serving({
    command: "env",
    environment: { PATH: process.env.PATH, ANTHROPIC_API_KEY: "the agent's own", ...secrets },
  });
  const id = await api.create({ prompt: "x", config: { model_id: "large" } });
  await api.until(id, "SUCCEEDED");
  const answer = (await api.said(id)).at(-1) ?? "";
  expect(answer).toContain(`AGENT_RUN_ID=${id}`);
  expect(answer).toContain("AGENT_MODEL=large");
  expect(answer).toContain("ANTHROPIC_API_KEY=the agent's own");
  for (const [name, value] of Object.entries(secrets)) {
    expect(answer).not.toContain(`${name}=`);
    expect(answer).not.toContain(value);
  }
});

test("the command gets its MCP servers in a file outside of its folder", async () => {
  const { api } = await serving({ command: 'cat "$AGENT_MCP_CONFIG"' });
  const mcp_servers = { files: { command: "files-server", args: ["--read-only"] } };
  const id = await api.create({ prompt: "x", config: { mcp_servers } });
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toBe(`assistant: ${JSON.stringify({ mcpServers: mcp_servers })}`);
});

test("a command that takes too long is ended with its descendants", async () => {
  const { api, folder } = await serving({
    command: "sh -c 'sh -c \"echo \\$\\$ > ../grandchild; exec sleep 300\" & wait' & wait",
    timeoutMs: 1_500,
  });
  const id = await api.create({ prompt: "x" });
  const grandchild = Number(await whenWritten(join(folder, "work", "grandchild")));
  expect(alive(grandchild)).toBe(true);
  const run = await api.until(id, "FAILED");
  expect(run.status_message?.message).toBe("The agent was stopped after 1.5 seconds.");
  await eventually("the grandchild's end", () => !alive(grandchild));
});

test("a command that ignores SIGTERM is killed", async () => {
  const { api, folder } = await serving({
    command: "trap '' TERM; echo $$ > ../pid; while :; do sleep 0.1; done",
  });
  const id = await api.create({ prompt: "x" });
  const pid = Number(await whenWritten(join(folder, "work", "pid")));
  await api.cancel(id);
  await eventually("its end", () => !alive(pid));
});

test("processes that a command leaves running end with it", async () => {
  const { api, folder } = await serving({
    command: "sleep 300 & echo $! > ../left; echo done",
  });
  const id = await api.create({ prompt: "x" });
  await api.until(id, "SUCCEEDED");
  const left = Number(await readFile(join(folder, "work", "left"), "utf8"));
  await eventually("its end", () => !alive(left));
  expect((await api.said(id)).at(-1)).toBe("assistant: done");
});

test("at most maxRuns run at the same time; the others follow in the order of creation", async () => {
  const { api, folder, service } = await serving({
    command: "cat >> ../begun; while ! test -e ../go; do sleep 0.05; done",
    maxRuns: 2,
  });
  const ids: string[] = [];
  for (const name of ["a", "b", "c", "d"]) ids.push(await api.create({ prompt: name }));
  await eventually("two at work", async () => {
    const working = (await api.list("state=INPROGRESS")).runs;
    return working.length === 2 ? true : null;
  });
  expect(
    (await api.list("state=QUEUED&sort_by=created_at&sort_order=asc")).runs.map(({ prompt }) => prompt),
  ).toEqual(["c", "d"]);
  expect(service.unfinished()).toBe(4);
  await writeFile(join(folder, "work", "go"), "");
  for (const id of ids) await api.until(id, "SUCCEEDED");
  const begun = (await readFile(join(folder, "work", "begun"), "utf8")).trim().split("\n");
  expect([begun.slice(0, 2).sort(), begun.slice(2).sort()]).toEqual([
    ["a", "b"],
    ["c", "d"],
  ]);
  expect(service.unfinished()).toBe(0);
});

test("with one slot, runs run in the order of creation", async () => {
  const { api, folder } = await serving({ command: "cat >> ../begun", maxRuns: 1 });
  const names = ["a", "b", "c", "d", "e"];
  let last = "";
  for (const prompt of names) last = await api.create({ prompt });
  await api.until(last, "SUCCEEDED");
  expect((await readFile(join(folder, "work", "begun"), "utf8")).trim().split("\n")).toEqual(names);
});

test("a command that asks makes the run BLOCKED, and the answer continues it", async () => {
  const { api } = await serving({
    command: "if test -e asked; then cat; else touch asked; echo 'Which branch?'; echo AGENT_BLOCKED; fi",
  });
  const id = await api.create({ prompt: "Release it." });
  const blocked = await api.until(id, "BLOCKED");
  expect(blocked.status_message).toBeUndefined();
  expect((await api.said(id)).at(-1)).toBe("assistant: Which branch?");
  await api.followUp(id, "main");
  await api.until(id, "SUCCEEDED");
  const answer = (await api.said(id)).at(-1) ?? "";
  expect(answer).toContain("Release it.");
  expect(answer).toContain("Which branch?");
  expect(answer.endsWith("main")).toBe(true);
});

test("a run whose folder can't be made says so, and a follow-up works once the folder can be made", async () => {
  const folder = await freshFolder();
  await writeFile(join(folder, "work"), "in the way");
  const { api } = await serving({ folder, command: "echo here" });
  const id = await api.create({ prompt: "x" });
  const run = await api.until(id, "ERROR");
  expect(run.status_message?.message).toBe("The run's folder could not be made.");
  await rm(join(folder, "work"));
  await api.followUp(id, "again");
  await api.until(id, "SUCCEEDED");
  expect((await api.said(id)).at(-1)).toBe("assistant: here");
});

test("a finished run leaves no record of a started process", async () => {
  const { api, folder } = await serving({ command: "true" });
  await api.until(await api.create({ prompt: "x" }), "SUCCEEDED");
  expect(await readdir(join(folder, "service", "processes"))).toEqual([]);
  await expect(access(join(folder, "service", "lock"))).resolves.toBeUndefined();
});
