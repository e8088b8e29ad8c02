import { fstatSync, statSync } from "node:fs";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DiskSync } from "#store/disk-sync.ts";
import { StoreError } from "#store/errors.ts";
import { Folder } from "#store/folder.ts";
import { Scratch } from "#store/scratch.ts";
import { newFolder } from "./open-folder.ts";

/** Syncs as the real one does, tells of it first, and fails for folders when it is told to. */
class WatchedDisk extends DiskSync {
  failing = false;
  readonly #before: (isFolder: boolean, inode: number) => void;

  constructor(before: (isFolder: boolean, inode: number) => void = () => {}) {
    super();
    this.#before = before;
  }

  override async sync(descriptor: number, how: { readonly alone: boolean }): Promise<void> {
    const stats = fstatSync(descriptor);
    this.#before(stats.isDirectory(), stats.ino);
    if (this.failing && stats.isDirectory()) throw new Error("the disk has gone bad");
    await super.sync(descriptor, how);
  }
}

async function newParts(disk: DiskSync): Promise<{ folder: Folder; tmp: string }> {
  const data = await newFolder();
  const tmp = join(data, "tmp");
  await mkdir(tmp);
  return { folder: new Folder(join(data, "files"), new Scratch(tmp, "test"), disk), tmp };
}

test("a file is synced before it has its name, and its folder after", async () => {
  const steps: string[] = [];
  const inodes: number[] = [];
  const disk = new WatchedDisk((isFolder, inode) => {
    steps.push(`${isFolder ? "folder" : "file"} synced, the name leads to ${folder.read("a")}`);
    inodes.push(inode);
  });
  const { folder } = await newParts(disk);
  await folder.put("a", "old");
  await folder.put("a", "new");
  expect(steps).toEqual([
    "file synced, the name leads to null",
    "folder synced, the name leads to old",
    "file synced, the name leads to old",
    "folder synced, the name leads to new",
  ]);
  expect(inodes[2]).toBe(statSync(join(folder.path, "a")).ino);
  expect(inodes[3]).toBe(statSync(folder.path).ino);
  await folder.close();
});

test("files that are written at the same time share their folder's sync", async () => {
  let folderSyncs = 0;
  const { folder } = await newParts(
    new WatchedDisk((isFolder) => {
      if (isFolder) folderSyncs += 1;
    }),
  );
  await Promise.all(Array.from({ length: 100 }, (_, step) => folder.put(`f${step}`, "text")));
  expect(folderSyncs).toBe(1);
  await folder.close();
});

test("when the folder can't be synced, every file is as it was", async () => {
  const disk = new WatchedDisk();
  const { folder } = await newParts(disk);
  await folder.put("old", "1");
  disk.failing = true;
  const puts = await Promise.allSettled([folder.put("old", "2"), folder.put("new", "2")]);
  for (const put of puts) expect(put).toMatchObject({ status: "rejected", reason: expect.any(StoreError) });
  expect(folder.read("old")).toBe("1");
  expect(folder.read("new")).toBeNull();
  disk.failing = false;
  await folder.put("old", "3");
  expect(await readFile(join(folder.path, "old"), "utf8")).toBe("3");
  await folder.close();
});

test("replaced files are written over and don't pile up", async () => {
  const { folder, tmp } = await newParts(new DiskSync());
  for (let step = 0; step < 20; step += 1) await folder.put("a", `text ${step}`);
  expect((await readdir(tmp)).length).toBeLessThanOrEqual(1);
  await folder.close();
  expect(await readdir(tmp)).toEqual([]);
});
