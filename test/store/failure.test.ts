import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { NewerDatabase } from "#disk/database.ts";
import { StoreError } from "#store/errors.ts";
import { lockDatabase, newFolder, open, rowsIn } from "./open-folder.ts";
import { ids, newRun, newThread, put, see } from "./threads.ts";

const place = "slack:T1:C1:1.1";

test("while nothing can be written changes reject and change nothing, and later they succeed again", async () => {
  const folder = await newFolder();
  const store = await open(folder);
  await see(store, place, "e1");
  const unlock = lockDatabase(folder);

  const failure = await see(store, place, "e2").catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StoreError);
  expect(failure).toMatchObject({
    cause: { code: "ERR_SQLITE_ERROR" },
    message: "The store could not write to the threads: another program has the database locked.",
  });
  await expect(store.writable()).rejects.toBeInstanceOf(StoreError);
  await expect(put(store, newThread("new", { places: ["p"] }))).rejects.toBeInstanceOf(StoreError);
  expect((await store.find(place))?.seen).toEqual(["e1"]);
  expect(await store.find("new")).toBeNull();

  unlock();
  await store.writable();
  expect(await see(store, place, "e2")).toBe(2);
  await put(store, newThread("new", { places: ["p"] }));
  expect((await store.find("p"))?.id).toBe("new");
});

test("a thread and its refs are written together or not at all", async () => {
  const folder = await newFolder();
  const store = await open(folder);
  await put(store, newThread("old"));
  rowsIn(
    folder,
    `CREATE TRIGGER full BEFORE INSERT ON ref WHEN NEW.ref = 'run:r1' BEGIN SELECT RAISE(ABORT, 'no'); END`,
  );
  const thread = newThread("new", { places: [place], runs: [newRun("r1", { open: true })] });
  await expect(put(store, thread)).rejects.toBeInstanceOf(StoreError);
  await expect(see(store, "old", "e", { runs: [newRun("r1")] })).rejects.toBeInstanceOf(StoreError);
  for (const ref of ["new", place, "run:r1"]) expect(await store.find(ref)).toBeNull();
  expect(await store.find("old")).toEqual(newThread("old"));
  expect(await ids(store.unsettled())).toEqual([]);
  rowsIn(folder, "DROP TRIGGER full");
  await put(store, thread);
  expect(await ids(store.unsettled())).toEqual(["new"]);
});

test("a moved or replaced folder is not written to, and its threads stay known", async () => {
  const folder = join(await newFolder(), "data");
  const store = await open(folder);
  await put(store, newThread(place));
  await rename(folder, `${folder}-away`);
  const gone = "The store could not write to the threads: the folder is gone.";
  await expect(see(store, place, "e1")).rejects.toMatchObject({ name: "StoreError", message: gone });
  await mkdir(folder);
  await expect(store.writable()).rejects.toBeInstanceOf(StoreError);
  const other = await open(folder);
  await put(other, newThread("other"));
  const replaced = "The store could not write to the threads: another file has taken its place.";
  await expect(see(store, place, "e1")).rejects.toMatchObject({ message: replaced });
  expect(await store.find(place)).toEqual(newThread(place));
  expect(await other.find(place)).toBeNull();
  await other.close();
  await rm(folder, { recursive: true });
  await rename(`${folder}-away`, folder);
  expect(await see(store, place, "e1")).toBe(1);
});

test("an interrupted write leaves the old thread intact", async () => {
  const folder = await newFolder();
  const script = join(import.meta.dirname, "limited-writer.ts");
  // The limit of 512 blocks (of 512 or 1024 bytes) for each file simulates a full disk.
  const limited = await execa("/bin/sh", [
    "-c",
    'ulimit -f 512 && exec "$0" "$@"',
    process.execPath,
    script,
    folder,
  ]);
  expect(limited.stdout.split("\n")).toEqual(["small: saved", "large: StoreError", "small: saved"]);
  const store = await open(folder);
  expect((await store.find(place))?.seen).toEqual(["small", "small"]);
  expect(rowsIn(folder, "SELECT id FROM thread")).toEqual([{ id: place }]);
});

test("a database of a newer version is refused with a sentence, and is left as it is", async () => {
  const folder = await newFolder();
  await (await open(folder)).close();
  rowsIn(folder, "PRAGMA user_version = 9");
  const refusal = await open(folder).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(NewerDatabase);
  expect(String(refusal)).toMatch(
    /threads\.db were written by a newer version \(format 9; this one reads 1\)/,
  );
  expect(rowsIn(folder, "PRAGMA user_version")).toEqual([{ user_version: 9 }]);
  rowsIn(folder, "PRAGMA user_version = 1");
  expect(await see(await open(folder), place, "e")).toBe(1);
});
