import { randomUUID } from "node:crypto";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LocalStore } from "#store/local-store.ts";
import { newFolder, open } from "./open-folder.ts";
import { newRun, newThread, put, see } from "./threads.ts";

const dayMs = 24 * 60 * 60 * 1000;
const start = Date.now();
const daysFromStart = (days: number): string => new Date(start + days * dayMs).toISOString();

async function sweepToEnd(store: LocalStore): Promise<{ removed: number; calls: number }> {
  let removed = 0;
  for (let calls = 1; ; calls += 1) {
    const swept = await store.sweep();
    removed += swept.removed;
    if (swept.done) return { removed, calls };
  }
}

test("settled threads go after 90 days, with what leads to them; unsettled and younger ones stay", async () => {
  const folder = await newFolder();
  let today = 0;
  const store = await open(folder, { now: () => start + today * dayMs });
  await put(
    store,
    newThread("old", { places: ["p-old"], runs: [newRun("r-old")], changedAt: daysFromStart(0) }),
  );
  await put(store, newThread("busy", { runs: [newRun("r", { open: true })], changedAt: daysFromStart(0) }));
  await put(store, newThread("young", { places: ["p-young"], changedAt: daysFromStart(30) }));

  today = 89;
  expect(await sweepToEnd(store)).toEqual({ removed: 0, calls: 1 });
  expect((await store.find("p-old"))?.id).toBe("old");
  today = 91;
  expect(await sweepToEnd(store)).toEqual({ removed: 1, calls: 1 });
  for (const ref of ["old", "p-old", "run:r-old"]) expect(await store.find(ref)).toBeNull();
  expect((await store.find("busy"))?.id).toBe("busy");
  expect((await store.find("p-young"))?.id).toBe("young");
  expect(await readdir(join(folder, "threads"))).toHaveLength(2);
  expect(await readdir(join(folder, "index"))).toHaveLength(2);
  expect(await see(store, "p-old", "e")).toBe(1);
});

test("one sweep is bounded, and the next goes on where it stopped", async () => {
  const folder = await newFolder();
  const store = await open(folder, { now: () => start + dayMs, retentionMs: 0 });
  const old = Array.from({ length: 250 }, (_, step) =>
    put(store, newThread(`t${step}`, { places: [`p${step}`] })),
  );
  await Promise.all(old);
  const first = await store.sweep();
  expect(first.done).toBe(false);
  expect(first.removed).toBeGreaterThan(0);
  expect(first.removed).toBeLessThan(250);
  expect((await sweepToEnd(store)).removed).toBe(250 - first.removed);
  for (const name of ["threads", "index"]) expect(await readdir(join(folder, name))).toEqual([]);
});

test("a thread that is changed while it is swept is either there or begun anew, and never half of it", async () => {
  const store = await open(await newFolder(), { now: () => start + dayMs, retentionMs: 0 });
  const names = Array.from({ length: 50 }, (_, step) => String(step));
  await Promise.all(names.map((name) => put(store, newThread(`t${name}`, { places: [`p${name}`] }))));
  const changes = names.map((name) => see(store, `p${name}`, "e", { changedAt: daysFromStart(10) }));
  await Promise.all([sweepToEnd(store), ...changes]);
  for (const name of names) expect((await store.find(`p${name}`))?.seen).toEqual(["e"]);
});

test("what can't be read, and what isn't the store's, holds no sweep up", async () => {
  const folder = await newFolder();
  const store = await open(folder, { now: () => start + dayMs, retentionMs: 0 });
  await put(store, newThread("old"));
  await writeFile(join(folder, "threads", `${"0".repeat(32)}.json`), "torn");
  await writeFile(join(folder, "threads", "notes.txt"), "mine");
  expect((await sweepToEnd(store)).removed).toBe(1);
  expect(await readdir(join(folder, "threads"))).toEqual(["notes.txt"]);
  expect(await readdir(join(folder, "broken"))).toHaveLength(1);
});

test("temporary files of a killed process go at the next start, and what others keep there stays", async () => {
  const folder = await newFolder();
  const tmp = join(folder, "tmp");
  await mkdir(join(tmp, "zoo"), { recursive: true });
  await writeFile(join(tmp, "thesis.txt"), "mine");
  await writeFile(join(tmp, `${randomUUID()}-threads-12`), "half a thr");
  await (await open(folder)).close();
  expect((await readdir(tmp)).sort()).toEqual(["thesis.txt", "zoo"]);
});
