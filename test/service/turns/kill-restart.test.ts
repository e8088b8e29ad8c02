import { spawn } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { startOf } from "#service/processes/process-table.ts";
import { eventually } from "#test/support/eventually.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { alive } from "#test/support/processes.ts";
import { childServing } from "#test/support/service/child-serving.ts";
import { apiKey, serving } from "#test/support/service/serving.ts";
import { startServiceProcess } from "#test/support/service/start-service.ts";

/** Records each start and its process id, then waits to be ended. */
const endless = "echo begun >> ../begun; echo $$ > ../pid; echo partial; sleep 300; echo never >> ../begun";

const lastPid = (folder: string): Promise<number> =>
  eventually(
    "the command's process",
    async () => Number(await readFile(join(folder, "work", "pid"), "utf8").catch(() => "")) || null,
  );

test("after kill -9 queued runs run, the interrupted one is ERROR with its process ended, and nothing runs twice", async () => {
  const folder = await freshFolder();
  const before = await childServing(folder, endless);
  const working = await before.api.create({ prompt: "working", metadata: { key: "value" } });
  const pid = await lastPid(folder);
  const queued = await before.api.create({ prompt: "queued" });
  await before.api.followUp(queued, "with a follow-up");
  const cancelled = await before.api.create({ prompt: "cancelled" });
  await before.api.cancel(cancelled);
  const seen = await before.api.run(working);
  expect(seen.state).toBe("INPROGRESS");
  await before.killed();
  expect(alive(pid)).toBe(true);

  const { api, lines } = await serving({ folder, command: "cat", maxRuns: 1 });

  expect(alive(pid)).toBe(false);
  const interrupted = await api.run(working);
  expect(interrupted).toMatchObject({
    state: "ERROR",
    metadata: { key: "value" },
    status_message: { error_code: "resource_unavailable", retryable: true },
  });
  expect(Date.parse(interrupted.updated_at)).toBeGreaterThan(Date.parse(seen.updated_at));
  await api.until(queued, "SUCCEEDED");
  expect((await api.said(queued)).at(-1)).toBe("assistant: queued\n\nwith a follow-up");
  expect((await api.run(cancelled)).state).toBe("CANCELLED");
  expect(await readFile(join(folder, "work", "begun"), "utf8")).toBe("begun\n");
  expect(lines.filter(({ message }) => message === "a turn begins")).toHaveLength(1);

  await api.followUp(working, "go on");
  await api.until(working, "SUCCEEDED");
});

test("a running service's folder can't be taken; a killed one's can", async () => {
  const folder = await freshFolder();
  const before = await childServing(folder, "cat");
  await expect(serving({ folder, command: "cat" })).rejects.toMatchObject({ name: "FolderInUse" });
  await before.killed();
  await expect(serving({ folder, command: "cat" })).resolves.toBeTruthy();
});

test.runIf(process.platform === "linux")(
  "a killed service that is still a zombie process no longer holds its folder",
  async () => {
    const folder = await freshFolder();
    // `sleep` takes the place of the shell, and so becomes the parent of a process that it never reaps.
    const parent = startServiceProcess(
      { folder, command: "cat", apiKey },
      { shell: `"$@" & echo "pid $!"; exec sleep 60` },
    );
    onTestFinished(async () => void (await parent.end("SIGKILL")));
    await parent.url;
    const pid = Number(/^pid (\d+)$/m.exec(parent.stdout())?.[1]);
    process.kill(pid, "SIGKILL");
    const state = async (): Promise<string | undefined> =>
      /^State:\s+(\w)/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1];
    // The main thread may die before the others, which keep the files open.
    const isDead = async (): Promise<boolean> =>
      (await state()) === "Z" && (await readdir(`/proc/${pid}/task`)).length === 1;
    await eventually("its death", async () => await isDead());
    await expect(serving({ folder, command: "cat" })).resolves.toBeTruthy();
    expect(await state()).toBe("Z");
  },
);

test("stopping ends running runs with a remark and leaves the queue for the next start", async () => {
  const first = await serving({ command: endless, maxRuns: 1 });
  const working = await first.api.create({ prompt: "working" });
  const pid = await lastPid(first.folder);
  const queued = await first.api.create({ prompt: "queued" });
  await eventually("its words", async () => (await first.api.said(working)).length === 2);

  await first.stop();

  expect(alive(pid)).toBe(false);
  const { api } = await serving({ folder: first.folder, command: "cat" });
  expect(await api.run(working)).toMatchObject({
    state: "ERROR",
    status_message: { error_code: "resource_unavailable", retryable: true },
  });
  expect((await api.said(working))[1]).toBe("assistant: partial");
  await api.until(queued, "SUCCEEDED");
});

test("a run that can't be read is set aside and the others go on", async () => {
  const first = await serving({ command: "cat", maxRuns: 1 });
  const good = await first.api.create({ prompt: "good" });
  const torn = await first.api.create({ prompt: "torn" });
  const odd = await first.api.create({ prompt: "odd" });
  const wordless = await first.api.create({ prompt: "wordless" });
  const working = await first.api.create({ prompt: "working" });
  for (const id of [good, torn, odd, wordless, working]) await first.api.until(id, "SUCCEEDED");
  await first.stop();
  const database = new DatabaseSync(join(first.folder, "service", "runs.db"));
  const spoil = (id: string, set: string): void =>
    void database.prepare(`UPDATE item SET ${set} WHERE ord = (SELECT ord FROM run WHERE id = ?)`).run(id);
  spoil(torn, "run = substr(run, 1, length(run) / 2)");
  spoil(odd, `run = '{"id":"odd"}'`);
  spoil(wordless, "rest = '{'");
  const queue = database.prepare("UPDATE run SET state = 'QUEUED' WHERE id = ?");
  for (const id of [odd, wordless]) queue.run(id);
  spoil(working, "rest = '{'");
  database.prepare("UPDATE run SET state = 'INPROGRESS' WHERE id = ?").run(working);
  database.close();

  const { api, lines } = await serving({ folder: first.folder, command: "cat", maxRuns: 1 });

  // Damaged queued runs are found when their turn comes, and the queue continues.
  await api.until(await api.create({ prompt: "more" }), "SUCCEEDED");
  expect((await api.send("GET", `/agent/runs/${torn}`)).status).toBe(404);
  expect((await api.list("q=good")).runs.map(({ run_id }) => run_id)).toEqual([good]);
  expect((await api.list("")).runs.map(({ prompt }) => prompt)).toEqual(["more", "good"]);
  for (const id of [torn, odd, wordless, working]) {
    expect((await api.send("GET", `/agent/runs/${id}`)).status).toBe(404);
    expect((await api.send("POST", `/agent/runs/${id}/cancel`)).status).toBe(404);
  }
  const aside = lines.filter(({ message }) => message === "a run can't be read and is set aside");
  expect(aside.map(({ fields }) => fields.runId).sort()).toEqual([torn, odd, wordless, working].sort());
});

test("a process that only reuses the id of a started one is left alone", async () => {
  const folder = await freshFolder();
  const bystander = spawn("sleep", ["300"], { detached: true, stdio: "ignore" });
  onTestFinished(() => void bystander.kill("SIGKILL"));
  const { pid } = bystander;
  if (pid === undefined) throw new Error("no process");
  await mkdir(join(folder, "service", "processes"), { recursive: true });
  const record = join(folder, "service", "processes", "one.json");
  await writeFile(record, JSON.stringify({ pid, start: "another boot:1" }));
  const first = await serving({ folder });
  expect(alive(pid)).toBe(true);
  await first.stop();

  // With the true start time, the same record does end the process.
  await writeFile(record, JSON.stringify({ pid, start: await startOf(pid) }));
  const ended = new Promise((resolve) => bystander.once("exit", resolve));
  await serving({ folder });
  await ended;
});

test("the queue keeps its order across a restart", async () => {
  const first = await serving({ demoStepMs: 600_000, maxRuns: 1 });
  const ids: string[] = [];
  for (const prompt of ["a", "b", "c", "d"]) ids.push(await first.api.create({ prompt }));
  await first.stop();
  const { api, folder } = await serving({ folder: first.folder, command: "cat >> ../begun", maxRuns: 1 });
  for (const id of ids) await api.until(id, "SUCCEEDED");
  expect(await readFile(join(folder, "work", "begun"), "utf8")).toBe("a\nb\nc\nd\n");
});
