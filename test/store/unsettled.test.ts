import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Thread } from "#core/thread.ts";
import { keyOf } from "#store/documents.ts";
import { StoreError } from "#store/errors.ts";
import { newFolder, open } from "./open-folder.ts";
import { ids, memoryLog, newRun, newThread, put, see } from "./threads.ts";

const openRun = { runs: [newRun("r1", { open: true })] };
const at = "slack:T1:C1:1.1";
const since = "2026-01-01T00:00:00Z";
const waiting: Partial<Thread> = {
  effects: [{ id: "e1", kind: "react", to: at, at, message: "1.1", reaction: "taken", since, tries: 0 }],
};

test("after a restart the unsettled threads are found, and only those", async () => {
  const folder = await newFolder();
  const first = await open(folder);
  for (let step = 0; step < 20; step += 1) await put(first, newThread(`settled-${step}`));
  await put(first, newThread("running", openRun));
  await put(first, newThread("pending", waiting));
  await put(first, newThread("was-running", { runs: [newRun("r2", { open: true })] }));
  await put(first, newThread("was-running", { runs: [newRun("r2")] }));
  expect(await readdir(join(folder, "unsettled"))).not.toContain(keyOf("was-running"));
  await put(first, newThread("again"));
  await put(first, newThread("again", { runs: [newRun("r3", { open: true })] }));
  expect(await ids(first.unsettled())).toEqual(["again", "pending", "running"]);
  await first.close();
  const second = await open(folder);
  expect(await ids(second.unsettled())).toEqual(["again", "pending", "running"]);
  expect(await readdir(join(folder, "unsettled"))).toHaveLength(3);
});

test("a mark that a crash left on a settled thread, or on none, is passed over and removed", async () => {
  const folder = await newFolder();
  const first = await open(folder);
  await put(first, newThread("running", openRun));
  await put(first, newThread("quiet"));
  await first.close();
  await writeFile(join(folder, "unsettled", keyOf("quiet")), "");
  await writeFile(join(folder, "unsettled", keyOf("never-written")), "");
  const second = await open(folder);
  expect(await ids(second.unsettled())).toEqual(["running"]);
  expect(await readdir(join(folder, "unsettled"))).toEqual([keyOf("running")]);
  await see(second, "quiet", "e", { runs: [newRun("r2", { open: true })] });
  expect(await ids(second.unsettled())).toEqual(["quiet", "running"]);
});

test("settled threads are not read for it", async () => {
  const folder = await newFolder();
  const first = await open(folder);
  await put(first, newThread("quiet"));
  await put(first, newThread("running", openRun));
  await first.close();
  await writeFile(join(folder, "threads", `${keyOf("quiet")}.json`), "torn");
  const { log, lines } = memoryLog();
  expect(await ids((await open(folder, { log })).unsettled())).toEqual(["running"]);
  expect(lines).toEqual([]);
});

test("threads may be changed and settled while they are gone through", async () => {
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

test("one that can't be read keeps none of the others back", async () => {
  const folder = await newFolder();
  const first = await open(folder);
  await put(first, newThread("running", openRun));
  await put(first, newThread("torn", { runs: [newRun("r2", { open: true })] }));
  await put(first, newThread("unreachable", { runs: [newRun("r3", { open: true })] }));
  await first.close();
  await writeFile(join(folder, "threads", `${keyOf("torn")}.json`), '{"version":1,');
  const { log, lines } = memoryLog();
  const second = await open(folder, { log });
  expect(await ids(second.unsettled())).toEqual(["running", "unreachable"]);
  expect(lines.filter(({ level }) => level === "error").length).toBeGreaterThan(0);
  await second.close();

  // A folder where the file should be is a failure of the disk, as the store sees it.
  const blocked = join(folder, "threads", `${keyOf("unreachable")}.json`);
  await rm(blocked);
  await mkdir(blocked);
  const found: string[] = [];
  const through = async (): Promise<void> => {
    for await (const thread of (await open(folder)).unsettled()) found.push(thread.id);
  };
  await expect(through()).rejects.toBeInstanceOf(StoreError);
  expect(found).toEqual(["running"]);
});
