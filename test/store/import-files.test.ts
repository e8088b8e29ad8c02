import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { ThreadUnreadable } from "#store/errors.ts";
import type { LocalStore } from "#store/local-store.ts";
import { keyOf } from "#store/thread-statements.ts";
import { newFolder, open, rowsIn } from "./open-folder.ts";
import { ids, memoryLog, newRun, newThread, put, see } from "./threads.ts";

const runId = (number: number): string => `0198c0de-0000-7000-8000-00000000000${number}`;
const placeOf = (number: number): string => `slack:T1:C1:170000000${number}.000100`;

/** A data folder of the last version that kept files. */
async function folderOfFiles(): Promise<string> {
  const folder = await newFolder();
  await cp(join(import.meta.dirname, "data-of-files"), folder, { recursive: true });
  return folder;
}

/** Checks that the store has the folder's threads and notes. */
async function expectImported(store: LocalStore): Promise<void> {
  for (const ref of [placeOf(0), `run:${runId(1)}`, `thread:${placeOf(0)}`]) {
    expect(await store.find(ref)).toMatchObject({ id: placeOf(0), seen: [placeOf(0)] });
  }
  for (const ref of [
    "slack:interaction:1",
    placeOf(1),
    "github:octo/app#12",
    `run:${runId(2)}`,
    `run:${runId(3)}`,
  ]) {
    expect((await store.find(ref))?.id).toBe("slack:interaction:1");
  }
  expect(await store.find("github:octo/app#13")).toMatchObject({
    effects: [{ id: "e1" }],
    said: ["Grüße 👋"],
  });
  const unreadable = [
    "slack:interaction:2",
    placeOf(2),
    `run:${runId(4)}`,
    "slack:interaction:3",
    placeOf(3),
  ];
  for (const ref of [...unreadable, "thread:slack:interaction:2"]) {
    await expect(store.find(ref)).rejects.toBeInstanceOf(ThreadUnreadable);
    await expect(see(store, ref, "e")).rejects.toBeInstanceOf(ThreadUnreadable);
  }
  await expect(see(store, placeOf(0), "e", { places: [placeOf(2)] })).rejects.toBeInstanceOf(
    ThreadUnreadable,
  );
  expect(await store.find("github:octo/app#14")).toBeNull();
  expect(await ids(store.unsettled())).toEqual(["github:octo/app#13", "slack:interaction:1"]);
  expect(await store.note("heard-until-slack")).toBe("2026-01-02T00:00:00Z");
  expect(await store.note("scopes-github")).toBe("github:octo/app\ngithub:octo/api");
}

test("a data folder of files is imported at the first start, once, and its files are kept aside", async () => {
  const folder = await folderOfFiles();
  const { log, lines } = memoryLog();
  const store = await open(folder, { log });
  await expectImported(store);
  expect(lines.map(({ level, fields }) => [level, fields])).toEqual([
    ["info", { threads: 3, broken: 2, aside: join(folder, "threads-in-files") }],
    ["error", { threads: 3, broken: 2, aside: join(folder, "threads-in-files") }],
  ]);
  const torn = await readFile(
    join(import.meta.dirname, "data-of-files/threads/cdb512e63cf15299113ae24678007f84.json"),
    "utf8",
  );
  expect(rowsIn(folder, "SELECT document FROM broken ORDER BY number")).toContainEqual({ document: torn });
  expect((await readdir(join(folder, "threads-in-files"))).sort()).toEqual([
    "broken",
    "index",
    "notes",
    "threads",
    "unsettled",
  ]);
  expect((await stat(join(folder, "threads-in-files"))).mode & 0o777).toBe(0o700);

  expect(await see(store, placeOf(1), "new")).toBe(1);
  await store.keepNote("heard-until-slack", "2026-01-03T00:00:00Z");
  await store.close();
  const again = memoryLog();
  const second = await open(folder, { log: again.log });
  expect((await second.find(placeOf(1)))?.seen).toEqual(["new"]);
  expect(await second.note("heard-until-slack")).toBe("2026-01-03T00:00:00Z");
  expect(again.lines).toEqual([]);
});

test("a start that was killed after the import and before the files were moved changes nothing when done again", async () => {
  const folder = await folderOfFiles();
  await (await open(folder)).close();
  const rows = () =>
    ["thread", "ref", "broken", "note"].map((table) => rowsIn(folder, `SELECT * FROM ${table}`));
  const before = rows();
  for (const missing of [[], ["index", "unsettled", "notes"]]) {
    await cp(join(import.meta.dirname, "data-of-files"), folder, {
      recursive: true,
      filter: (path) => !missing.some((name) => path.endsWith(`data-of-files/${name}`)),
    });
    const store = await open(folder);
    await expectImported(store);
    await store.close();
    expect(rows()).toEqual(before);
  }
});

test("no thread begins in place of an unreadable index entry", async () => {
  const folder = await folderOfFiles();
  await writeFile(join(folder, "index", keyOf("github:octo/app#99")), "");
  await writeFile(join(folder, "index", keyOf(placeOf(1))), "");
  const store = await open(folder);
  await expect(see(store, "github:octo/app#99", "e")).rejects.toBeInstanceOf(ThreadUnreadable);
  expect((await store.find(placeOf(1)))?.id).toBe("slack:interaction:1");
});

test("temporary files of an earlier version are removed, and other files beside them are kept", async () => {
  const folder = await folderOfFiles();
  const tmp = join(folder, "tmp");
  await mkdir(join(tmp, "zoo"), { recursive: true });
  await writeFile(join(tmp, "thesis.txt"), "mine");
  await writeFile(join(tmp, `${crypto.randomUUID()}-threads-12`), "half a thr");
  await open(folder);
  expect((await readdir(tmp)).sort()).toEqual(["thesis.txt", "zoo"]);
});

test("an import that is killed at any time loses nothing and repeats nothing", async () => {
  const folder = await newFolder();
  const many = 3_000;
  await mkdir(join(folder, "threads"));
  await mkdir(join(folder, "notes"));
  await writeFile(join(folder, "notes", "scopes-slack"), "slack:T1:C1");
  for (let number = 0; number < many; number += 1) {
    const thread = newThread(`t${number}`, {
      places: [`p${number}`],
      runs: [newRun(`r${number}`, { open: number % 100 === 0 })],
    });
    await writeFile(join(folder, "threads", `${keyOf(thread.id)}.json`), `${JSON.stringify(thread)}\n`);
  }
  let killed = 0;
  for (const killAfterMs of [20, 60, 100, 150, 200, 300, 400]) {
    const child = spawn(process.execPath, [join(import.meta.dirname, "opening.ts"), folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    await once(createInterface({ input: child.stdout }), "line");
    await sleep(killAfterMs);
    child.kill("SIGKILL");
    const [, signal] = await exited;
    if (signal === "SIGKILL") killed += 1;
  }
  expect(killed).toBeGreaterThan(0);
  const store = await open(folder);
  expect(rowsIn(folder, "SELECT count(*) AS threads, count(DISTINCT id) AS ids FROM thread")).toEqual([
    { threads: many, ids: many },
  ]);
  expect(rowsIn(folder, "SELECT count(*) AS refs FROM ref")).toEqual([{ refs: 3 * many }]);
  for (let number = 0; number < many; number += 97) {
    for (const ref of [`p${number}`, `run:r${number}`])
      expect((await store.find(ref))?.id).toBe(`t${number}`);
  }
  expect(await ids(store.unsettled())).toHaveLength(many / 100);
  expect(await store.note("scopes-slack")).toBe("slack:T1:C1");
  await put(store, newThread("after"));
});

test("two documents that name one place are both imported, and the place leads where it led before", async () => {
  const folder = await newFolder();
  for (const name of ["threads", "index"]) await mkdir(join(folder, name));
  const threads = [
    newThread("a", { places: ["p", "q"] }),
    newThread("b", { places: ["p", "q"] }),
    newThread("c", { places: ["p", "q"] }),
    newThread("q"),
  ];
  for (const thread of threads) {
    await writeFile(join(folder, "threads", `${keyOf(thread.id)}.json`), `${JSON.stringify(thread)}\n`);
  }
  await writeFile(join(folder, "index", keyOf("p")), "b\n");
  await writeFile(join(folder, "index", keyOf("q")), "c\n");
  const store = await open(folder);
  const found = await Promise.all(["a", "b", "c", "p", "q"].map(async (ref) => (await store.find(ref))?.id));
  expect(found).toEqual(["a", "b", "c", "b", "q"]);
});
