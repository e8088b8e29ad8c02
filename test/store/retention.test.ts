import { expect, test } from "vitest";
import type { LocalStore } from "#store/local-store.ts";
import { selectOld } from "#store/thread-statements.ts";
import { newFolder, open, rowsIn } from "./open-folder.ts";
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

test("settled threads are removed after 90 days with their refs; unsettled and younger ones stay", async () => {
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
  const refs = rowsIn(folder, "SELECT ref FROM ref ORDER BY ref").map(({ ref }) => ref);
  expect(refs).toEqual(["busy", "p-young", "run:r", "young"]);
  expect(await see(store, "p-old", "e")).toBe(1);
});

test("one sweep is bounded, and the next removes more", async () => {
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
  for (const table of ["thread", "ref"]) expect(rowsIn(folder, `SELECT * FROM ${table}`)).toEqual([]);
});

test("a thread that changes during a sweep is either kept or replaced as a whole", async () => {
  const store = await open(await newFolder(), { now: () => start + dayMs, retentionMs: 0 });
  const names = Array.from({ length: 50 }, (_, step) => String(step));
  await Promise.all(names.map((name) => put(store, newThread(`t${name}`, { places: [`p${name}`] }))));
  const changes = names.map((name) => see(store, `p${name}`, "e", { changedAt: daysFromStart(10) }));
  await Promise.all([sweepToEnd(store), ...changes]);
  for (const name of names) expect((await store.find(`p${name}`))?.seen).toEqual(["e"]);
});

test("an unreadable thread is kept and does not stop sweeps", async () => {
  const folder = await newFolder();
  const store = await open(folder, { now: () => start + dayMs, retentionMs: 0 });
  await put(store, newThread("old"));
  await put(store, newThread("torn"));
  await put(store, newThread("newer"));
  await store.close();
  rowsIn(folder, "UPDATE thread SET document = 'torn' WHERE id = 'torn'");
  rowsIn(folder, `UPDATE thread SET document = '{"version":2}' WHERE id = 'newer'`);
  const again = await open(folder, { now: () => start + dayMs, retentionMs: 0 });
  expect((await sweepToEnd(again)).removed).toBe(1);
  expect(rowsIn(folder, "SELECT id FROM thread")).toEqual([{ id: "newer" }]);
  expect(rowsIn(folder, "SELECT id, document FROM broken")).toEqual([{ id: "torn", document: "torn" }]);
});

test("the old threads are found by their index", async () => {
  const folder = await newFolder();
  const store = await open(folder);
  await put(store, newThread("old"));
  const [sql, values] = selectOld(0, 100);
  const plan = rowsIn(folder, `EXPLAIN QUERY PLAN ${sql}`, ...values).map(({ detail }) => detail);
  expect(plan).toEqual([expect.stringContaining("USING INDEX thread_settled")]);
});
