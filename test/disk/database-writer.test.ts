import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { openToRead, type Statement } from "#disk/database.ts";
import { createDatabaseWriter, writerThreads } from "#disk/database-writer.ts";
import { isDamage } from "#disk/errors.ts";
import { recordingLog } from "#test/support/logs.ts";

const schema = {
  holds: "words",
  tables: "CREATE TABLE word (number INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)",
  upgrades: [],
};
const { log } = recordingLog();

/** Creates a database in its own folder, which is removed after the test. */
async function newDatabase(): Promise<{ path: string; database: DatabaseSync }> {
  const folder = await mkdtemp(join(tmpdir(), "database-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "data", "words.db");
  await mkdir(join(folder, "data"));
  const database = await openToRead(path, schema);
  onTestFinished(() => database.close());
  return { path, database };
}

const put = (number: number, text = `word ${number}`): Statement => [
  "INSERT OR REPLACE INTO word VALUES (?, ?)",
  [number, text],
];
/** Fails if the text exists already. */
const add = (number: number, text: string): Statement => ["INSERT INTO word VALUES (?, ?)", [number, text]];
const textsIn = (database: DatabaseSync): unknown[] =>
  database
    .prepare("SELECT text FROM word ORDER BY number")
    .all()
    .map(({ text }) => text);

test("a writing thread that dies is replaced, and each write happens once", async () => {
  const { path, database } = await newDatabase();
  const start = writerThreads(path);
  const threads: Worker[] = [];
  const writer = createDatabaseWriter(() => {
    const thread = start();
    threads.push(thread);
    return thread;
  }, log);
  const written: Promise<void>[] = [];
  for (let number = 1; number <= 300; number += 1) {
    written.push(writer.write([put(number)]));
    if (number === 50 || number === 150) {
      await new Promise((resolve) => setImmediate(resolve));
      await threads.at(-1)?.terminate();
    }
  }
  await Promise.all(written);
  expect(threads.length).toBeGreaterThan(1);
  expect(textsIn(database)).toHaveLength(300);
  await writer.close();
});

test("writes reject while every writing thread dies, and succeed again once one survives", async () => {
  const { path, database } = await newDatabase();
  const start = writerThreads(path);
  let broken = true;
  const writer = createDatabaseWriter(
    () => (broken ? new Worker("process.exit(1)", { eval: true }) : start()),
    log,
  );
  await expect(writer.write([put(1)])).rejects.toThrow(/keeps failing/);
  broken = false;
  await writer.write([put(1)]);
  expect(textsIn(database)).toEqual(["word 1"]);
  await writer.close();
});

test("a failing write changes nothing, and concurrent writes succeed", async () => {
  const { path, database } = await newDatabase();
  const writer = createDatabaseWriter(writerThreads(path), log);
  const done = await Promise.allSettled([
    writer.write([add(1, "one")]),
    writer.write([add(2, "two"), add(3, "one")]),
    writer.write([add(4, "four")]),
    writer.write([["INSERT INTO nowhere VALUES (1)", []]]),
    writer.write([add(5, "five")]),
  ]);
  expect(done.map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "fulfilled",
    "rejected",
    "fulfilled",
  ]);
  expect(done[1]).toMatchObject({ reason: { code: "ERR_SQLITE_ERROR", errcode: 2067 } });
  expect(textsIn(database)).toEqual(["one", "four", "five"]);
  await writer.close();
});

test("neither a file that replaced the database nor the moved one is written to", async () => {
  const { path, database } = await newDatabase();
  const writer = createDatabaseWriter(writerThreads(path), log);
  await writer.write([put(1)]);
  const folder = join(path, "..");
  await rename(folder, `${folder}-away`);
  await expect(writer.write([put(2)])).rejects.toMatchObject({ code: "ENOENT" });
  await mkdir(folder);
  await writeFile(path, "");
  await expect(writer.write([put(2)])).rejects.toMatchObject({ code: "ESTALE" });
  expect(textsIn(database)).toEqual(["word 1"]);
  await rm(folder, { recursive: true });
  await rename(`${folder}-away`, folder);
  await writer.write([put(2)]);
  expect(textsIn(database)).toEqual(["word 1", "word 2"]);
  await writer.close();
});

test("a database of a newer format is refused with a sentence", async () => {
  const { path, database } = await newDatabase();
  const writer = createDatabaseWriter(writerThreads(path), log);
  await writer.write([["PRAGMA user_version = 7", []]]);
  await writer.close();
  database.exec("SELECT 1");
  await expect(openToRead(path, schema)).rejects.toMatchObject({
    name: "NewerDatabase",
    message: expect.stringMatching(
      /^The words in \S+ were written by a newer version \(format 7; this one reads 1\)/,
    ),
  });
});

test("a database that lost the number of its format is damaged, and an empty file gets its tables", async () => {
  const { path } = await newDatabase();
  const writer = createDatabaseWriter(writerThreads(path), log);
  await writer.write([["PRAGMA user_version = 0", []]]);
  await writer.close();
  const refusal = await openToRead(path, schema).catch((error: unknown) => error);
  expect(isDamage(refusal)).toBe(true);
  const empty = `${path}-empty`;
  await writeFile(empty, "");
  using opened = await openToRead(empty, schema);
  expect(textsIn(opened)).toEqual([]);
});
