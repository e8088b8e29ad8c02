import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RefTaken, StoreError } from "#store/errors.ts";
import { newFolder, open, rowsIn } from "./open-folder.ts";
import { newRun, newThread, put, see } from "./threads.ts";

const place = "slack:T1:C1:1.1";

test("a thread is found by its id, its places and its runs, even after a restart", async () => {
  const folder = await newFolder();
  const first = await open(folder);
  await put(first, newThread("interaction-1"));
  await see(first, "interaction-1", "e1", { places: [place, "github:o/r#1"], runs: [newRun("r1")] });
  const expected = newThread("interaction-1", {
    seen: ["e1"],
    places: [place, "github:o/r#1"],
    runs: [newRun("r1")],
  });
  const refs = ["interaction-1", "thread:interaction-1", place, "github:o/r#1", "run:r1"];
  for (const ref of refs) expect(await first.find(ref)).toEqual(expected);
  await first.close();

  const second = await open(folder);
  for (const ref of refs) expect(await second.find(ref)).toEqual(expected);
  for (const ref of ["r1", "thread:r1", "run:interaction-1", "github:o/r#2"]) {
    expect(await second.find(ref)).toBeNull();
  }
});

test("a ref that its thread drops is free for another thread", async () => {
  const store = await open(await newFolder());
  await put(store, newThread("a", { places: [place] }));
  await put(store, newThread("a"));
  expect(await store.find(place)).toBeNull();
  await put(store, newThread("b", { places: [place] }));
  expect((await store.find(place))?.id).toBe("b");
});

test("100 concurrent changes of one thread through different refs are all applied", async () => {
  const folder = await newFolder();
  const store = await open(folder);
  await put(store, newThread(place, { runs: [newRun("r1")] }));
  const refs = [place, "run:r1", `thread:${place}`];
  const counts = await Promise.all(
    Array.from({ length: 100 }, (_, step) => see(store, refs[step % 3] ?? place, `e${step}`)),
  );
  expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, step) => step + 1));
  await store.close();
  const seen = (await (await open(folder)).find(place))?.seen ?? [];
  expect(new Set(seen).size).toBe(100);
});

test("of 100 concurrent changes of a new ref, one begins the thread and the others find it", async () => {
  const store = await open(await newFolder());
  const begun = await Promise.all(
    Array.from({ length: 100 }, (_, step) =>
      store.change(place, (thread) => {
        const before = thread ?? newThread(place);
        return { thread: { ...before, seen: [...before.seen, `e${step}`] }, result: thread === null };
      }),
    ),
  );
  expect(begun.filter(Boolean)).toHaveLength(1);
  expect((await store.find(place))?.seen).toHaveLength(100);
});

test("changes of 300 threads at the same time are all durable", async () => {
  const folder = await newFolder();
  const store = await open(folder);
  await Promise.all(
    Array.from({ length: 300 }, (_, step) => see(store, `t${step}`, "e", { places: [`p${step}`] })),
  );
  await store.close();
  const again = await open(folder);
  for (let step = 0; step < 300; step += 1) expect((await again.find(`p${step}`))?.id).toBe(`t${step}`);
});

test("a place that two threads claim at the same time belongs to one of them", async () => {
  const store = await open(await newFolder());
  for (let round = 0; round < 20; round += 1) {
    const at = `${place}${round}`;
    await put(store, newThread(`slash-${round}`));
    const claim = see(store, `slash-${round}`, "card posted", { places: [at] });
    const reply = store.change(at, (thread) => {
      const before = thread ?? newThread(at);
      return { thread: { ...before, seen: [...before.seen, "reply"] }, result: before.id };
    });
    const [claimed, replied] = await Promise.allSettled([claim, reply]);
    expect(replied.status).toBe("fulfilled");
    const found = await store.find(at);
    expect(found?.id).toBe(claimed.status === "fulfilled" ? `slash-${round}` : at);
    expect(found?.seen).toContain("reply");
  }
});

test("a change that claims another thread's ref is refused as a whole", async () => {
  const store = await open(await newFolder());
  await put(store, newThread("a", { places: [place], runs: [newRun("r1")] }));
  await put(store, newThread("b"));
  for (const claim of [{ places: [place] }, { runs: [newRun("r1")] }, { places: ["a"] }]) {
    await expect(see(store, "b", "e", { places: ["fresh"], ...claim })).rejects.toBeInstanceOf(RefTaken);
  }
  await expect(put(store, newThread("c", { places: ["b"] }))).rejects.toBeInstanceOf(RefTaken);
  expect((await store.find(place))?.id).toBe("a");
  expect(await store.find("b")).toEqual(newThread("b"));
  for (const ref of ["c", "fresh"]) expect(await store.find(ref)).toBeNull();
});

test("of two threads that claim the same refs at the same time, one gets all of them", async () => {
  const store = await open(await newFolder());
  const settled = await Promise.allSettled(
    Array.from({ length: 20 }, (_, step) => [
      put(store, newThread(`a${step}`, { places: [`b${step}`, `x${step}`] })),
      put(store, newThread(`b${step}`, { places: [`a${step}`, `x${step}`] })),
    ]).flat(),
  );
  expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(20);
  for (let step = 0; step < 20; step += 1) {
    const owners = await Promise.all(["a", "b", "x"].map((name) => store.find(`${name}${step}`)));
    expect(new Set(owners.map((owner) => owner?.id)).size).toBe(1);
  }
});

test("returning the same thread, or null, writes nothing", async () => {
  const folder = await newFolder();
  const store = await open(folder);
  await put(store, newThread(place));
  const log = join(folder, "threads.db-wal");
  const { mtimeNs } = await stat(log, { bigint: true });
  expect(await store.change(place, (thread) => ({ thread, result: "same" }))).toBe("same");
  expect(await store.change(place, () => ({ thread: null, result: "none" }))).toBe("none");
  expect(await store.change("other", () => ({ thread: null, result: 7 }))).toBe(7);
  expect(await store.find("other")).toBeNull();
  expect((await stat(log, { bigint: true })).mtimeNs).toBe(mtimeNs);
  expect(rowsIn(folder, "SELECT id FROM thread")).toEqual([{ id: place }]);
});

test("a change rejects with its function's error, and nothing changes", async () => {
  const store = await open(await newFolder());
  await put(store, newThread(place));
  const failure = new Error("not today");
  const change = store.change(place, () => {
    throw failure;
  });
  await expect(change).rejects.toBe(failure);
  expect(await store.find(place)).toEqual(newThread(place));
  expect(await see(store, place, "e1")).toBe(1);
});

test("a change can neither alter a thread's id nor begin a thread without the ref", async () => {
  const store = await open(await newFolder());
  await put(store, newThread("a"));
  const renamed = store.change("a", () => ({ thread: newThread("b"), result: 0 }));
  await expect(renamed).rejects.toBeInstanceOf(TypeError);
  const elsewhere = store.change("c", () => ({ thread: newThread("d"), result: 0 }));
  await expect(elsewhere).rejects.toBeInstanceOf(TypeError);
  await store.change("run:r1", () => ({
    thread: newThread("attach-1", { runs: [newRun("r1")] }),
    result: 0,
  }));
  expect((await store.find("attach-1"))?.id).toBe("attach-1");
});

test("closing finishes the changes under way and refuses later ones", async () => {
  const folder = await newFolder();
  const store = await open(folder);
  const underWay = see(store, place, "e1");
  await store.close();
  expect(await underWay).toBe(1);
  await expect(see(store, place, "e2")).rejects.toBeInstanceOf(StoreError);
  await expect(store.find(place)).rejects.toBeInstanceOf(StoreError);
  expect((await readdir(folder)).sort()).toEqual(["lock", "lock.pid", "threads.db"]);
  expect((await (await open(folder)).find(place))?.seen).toEqual(["e1"]);
});

test("only the owner can read the files", async () => {
  const folder = join(await newFolder(), "data");
  const store = await open(folder);
  await see(store, "slash-1", "e1", { places: [place], runs: [newRun("r1", { open: true })] });
  await see(store, "slash-1", "e2");
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  for (const entry of entries) {
    const { mode } = await stat(join(entry.parentPath, entry.name));
    expect([entry.name, mode & 0o777]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600]);
  }
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test("notes are kept beside the threads and survive a restart", async () => {
  const folder = await newFolder();
  const store = await open(folder);
  expect(await store.note("heard-until-slack")).toBeNull();
  await store.keepNote("heard-until-slack", "2026-01-01T00:00:00Z");
  await store.keepNote("heard-until-slack", "2026-01-02T00:00:00Z");
  await store.close();
  expect(await (await open(folder)).note("heard-until-slack")).toBe("2026-01-02T00:00:00Z");
});
