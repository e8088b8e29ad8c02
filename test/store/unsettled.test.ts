import { expect, test } from "vitest";
import type { Thread } from "#core/thread.ts";
import { newFolder, open, rowsIn } from "./open-folder.ts";
import { ids, memoryLog, newRun, newThread, put } from "./threads.ts";

const openRun = { runs: [newRun("r1", { open: true })] };
const at = "slack:T1:C1:1.1";
const since = "2026-01-01T00:00:00Z";
const waiting: Partial<Thread> = {
  effects: [{ id: "e1", kind: "react", to: at, at, message: "1.1", reaction: "taken", since, tries: 0 }],
};

test("after a restart exactly the unsettled threads are found", async () => {
  const folder = await newFolder();
  const first = await open(folder);
  for (let step = 0; step < 20; step += 1) await put(first, newThread(`settled-${step}`));
  await put(first, newThread("running", openRun));
  await put(first, newThread("pending", waiting));
  await put(first, newThread("was-running", { runs: [newRun("r2", { open: true })] }));
  await put(first, newThread("was-running", { runs: [newRun("r2")] }));
  await put(first, newThread("again"));
  await put(first, newThread("again", { runs: [newRun("r3", { open: true })] }));
  expect(await ids(first.unsettled())).toEqual(["again", "pending", "running"]);
  await first.close();
  const second = await open(folder);
  expect(await ids(second.unsettled())).toEqual(["again", "pending", "running"]);
});

test("settled threads are not read", async () => {
  const folder = await newFolder();
  const first = await open(folder);
  await put(first, newThread("quiet"));
  await put(first, newThread("running", openRun));
  await first.close();
  rowsIn(folder, "UPDATE thread SET document = 'torn' WHERE id = 'quiet'");
  const { log, lines } = memoryLog();
  expect(await ids((await open(folder, { log })).unsettled())).toEqual(["running"]);
  expect(lines).toEqual([]);
  const sql = "EXPLAIN QUERY PLAN SELECT number FROM thread WHERE settled IS NULL";
  const plan = rowsIn(folder, sql).map(({ detail }) => detail);
  expect(plan).toEqual([expect.stringContaining("USING COVERING INDEX thread_settled")]);
});

test("threads may be changed and settled during the iteration", async () => {
  const store = await open(await newFolder());
  for (let step = 0; step < 100; step += 1) {
    await put(store, newThread(`t${step}`, { runs: [newRun(`r${step}`, { open: true })] }));
  }
  let seen = 0;
  for await (const thread of store.unsettled()) {
    await put(store, { ...thread, runs: [] });
    seen += 1;
  }
  expect(seen).toBe(100);
  expect(await ids(store.unsettled())).toEqual([]);
});

test("an unreadable thread is logged, and the others are found", async () => {
  const folder = await newFolder();
  const first = await open(folder);
  await put(first, newThread("torn", { runs: [newRun("r2", { open: true })] }));
  await put(first, newThread("running", openRun));
  await first.close();
  rowsIn(folder, "UPDATE thread SET document = ? WHERE id = 'torn'", '{"version":1,');
  const { log, lines } = memoryLog();
  const second = await open(folder, { log });
  expect(await ids(second.unsettled())).toEqual(["running"]);
  expect(lines.filter(({ level }) => level === "error").length).toBeGreaterThan(0);
});
