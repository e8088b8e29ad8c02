import { mkdirSync } from "node:fs";
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { keyOf } from "#store/documents.ts";
import { StoreError } from "#store/errors.ts";
import { newFolder, open } from "./open-folder.ts";
import { ids, newRun, newThread, put, see } from "./threads.ts";

const place = "slack:T1:C1:1.1";
const documentOf = (folder: string, id: string): string => join(folder, "threads", `${keyOf(id)}.json`);

test("while nothing can be written, changes reject, nothing has changed, and it heals by itself", async () => {
  const folder = await newFolder();
  const store = await open(folder);
  await see(store, place, "e1");
  const tmp = join(folder, "tmp");
  await rename(tmp, `${tmp}-away`);
  await writeFile(tmp, "a file where a folder should be");

  const failure = await see(store, place, "e2").catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StoreError);
  expect(failure).toMatchObject({
    cause: { code: "ENOTDIR" },
    message: expect.stringMatching(/^The store .+\.$/),
  });
  await expect(store.writable()).rejects.toBeInstanceOf(StoreError);
  await expect(put(store, newThread("new", { places: ["p"] }))).rejects.toBeInstanceOf(StoreError);
  expect((await store.find(place))?.seen).toEqual(["e1"]);
  expect(await store.find("new")).toBeNull();

  await rm(tmp);
  await rename(`${tmp}-away`, tmp);
  await store.writable();
  expect(await see(store, place, "e2")).toBe(2);
  await put(store, newThread("new", { places: ["p"] }));
  expect((await store.find("p"))?.id).toBe("new");
});

test("a thread is not written before its mark and its index entries are", async () => {
  for (const first of ["unsettled", "index"]) {
    const folder = await newFolder();
    const store = await open(folder);
    await put(store, newThread("old"));
    const blocked = join(folder, first, first === "index" ? keyOf(place) : keyOf("new"));
    // The entry is free when it is looked up; what it is to be replaced by can't be put there.
    const begun = store.change("new", () => {
      mkdirSync(join(blocked, "in-the-way"), { recursive: true });
      return {
        thread: newThread("new", { places: [place], runs: [newRun("r1", { open: true })] }),
        result: 0,
      };
    });
    await expect(begun).rejects.toBeInstanceOf(StoreError);
    expect(await readdir(join(folder, "threads"))).toEqual([`${keyOf("old")}.json`]);
    await rm(blocked, { recursive: true });
    await see(store, "new", "e", { places: [place], runs: [newRun("r1", { open: true })] });
    expect(await ids(store.unsettled())).toEqual(["new"]);
  }
});

test("what can't be read for another reason than that it isn't there is not taken for missing", async () => {
  const folder = await newFolder();
  const store = await open(folder);
  await mkdir(documentOf(folder, place));
  await expect(store.find(place)).rejects.toBeInstanceOf(StoreError);
  await expect(see(store, place, "e1")).rejects.toBeInstanceOf(StoreError);
  expect(await see(store, "other", "e1")).toBe(1);
  await rm(documentOf(folder, place), { recursive: true });
  expect(await see(store, place, "e1")).toBe(1);
});

test("a folder that was moved away or replaced does not make its threads unknown", async () => {
  const folder = await newFolder();
  const store = await open(folder);
  for (const name of ["threads", "index"]) {
    const path = join(folder, name);
    await rename(path, `${path}-away`);
    await expect(store.find(place)).rejects.toBeInstanceOf(StoreError);
    await mkdir(path);
    await expect(store.find(place)).rejects.toBeInstanceOf(StoreError);
    await rm(path, { recursive: true });
    await rename(`${path}-away`, path);
    expect(await store.find(place)).toBeNull();
  }
});

test("a write that breaks off in the middle leaves the old thread whole", async () => {
  const folder = await newFolder();
  const script = join(import.meta.dirname, "limited-writer.ts");
  // No file may grow beyond 32 blocks, as on a disk without space; a block is 512 or 1024 bytes.
  const limited = await execa("/bin/sh", [
    "-c",
    'ulimit -f 32 && exec "$0" "$@"',
    process.execPath,
    script,
    folder,
  ]);
  expect(limited.stdout.split("\n")).toEqual(["small: saved", "large: StoreError", "small: saved"]);
  const store = await open(folder);
  expect((await store.find(place))?.seen).toEqual(["small", "small"]);
  expect(await readdir(join(folder, "threads"))).toHaveLength(1);
});

test("a copy made of hard links is not written over", async () => {
  const folder = await newFolder();
  const store = await open(folder);
  await see(store, place, "e1");
  const copy = join(folder, "copy");
  await link(documentOf(folder, place), copy);
  const text = await readFile(copy, "utf8");
  for (let step = 0; step < 5; step += 1) await see(store, place, `more-${step}`);
  expect(await readFile(copy, "utf8")).toBe(text);
});

test("a shorter thread leaves nothing of a longer one in its file", async () => {
  const folder = await newFolder();
  const store = await open(folder);
  for (const size of [5000, 10, 3000, 1, 2000, 0]) {
    await put(store, newThread(place, { said: ["x".repeat(size)] }));
    expect(JSON.parse(await readFile(documentOf(folder, place), "utf8")).said).toEqual(["x".repeat(size)]);
  }
});
