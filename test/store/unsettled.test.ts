import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import type { Thread } from "#core/thread.ts";
import { createDatabaseWriter, writerThreads } from "#disk/database-writer.ts";
import { StoreError } from "#store/errors.ts";
import { LocalStore } from "#store/local-store.ts";
import { databaseName } from "#store/open-store.ts";
import { ThreadTables } from "#store/thread-tables.ts";
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

/** A disk that fails to read one thread. */
class FailingTables extends ThreadTables {
  fails = true;
  override async read(number: number, options?: { keep?: boolean }): Promise<Thread> {
    const thread = await super.read(number, options);
    if (this.fails && thread.id === "failing") throw new StoreError("The disk failed.");
    return thread;
  }
}

test("threads that the disk can't read for now are counted after the others", async () => {
  const folder = await newFolder();
  const first = await open(folder);
  await put(first, newThread("failing", { runs: [newRun("r2", { open: true })] }));
  await put(first, newThread("running", openRun));
  await first.close();
  const { log } = memoryLog();
  const path = join(folder, databaseName);
  const database = new DatabaseSync(path, { readOnly: true });
  const tables = new FailingTables(database, createDatabaseWriter(writerThreads(path), log), path, log);
  const store = new LocalStore({ tables, retentionMs: 0, now: Date.now, log, unlock: async () => {} });
  onTestFinished(() => store.close());
  const found: string[] = [];
  const reading = (async () => {
    for await (const { id } of store.unsettled()) found.push(id);
  })();
  await expect(reading).rejects.toMatchObject({ name: "ThreadsLeftOut", leftOut: 1 });
  expect(found).toEqual(["running"]);
  tables.fails = false;
  expect(await ids(store.unsettled())).toEqual(["failing", "running"]);
});
