import { copyFile, mkdir, readdir, readFile, rename, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { damageMark } from "#store/damage.ts";
import { StoreDamaged, StoreError, ThreadUnreadable } from "#store/errors.ts";
import type { LocalStore } from "#store/local-store.ts";
import { newFolder, open, rowsIn } from "./open-folder.ts";
import { ids, memoryLog, newRun, newThread, put, see } from "./threads.ts";

const many = 300;
const pageBytes = 4_096;
const idAt = (number: number): string => `t${number}`;

/** A folder with many threads, each with a place and a run, every tenth unsettled, and a note. */
async function fullFolder(): Promise<{ folder: string; path: string }> {
  const folder = await newFolder();
  const store = await open(folder);
  await Promise.all(
    Array.from({ length: many }, (_, number) =>
      put(
        store,
        newThread(idAt(number), {
          places: [`p${number}`],
          runs: [newRun(`r${number}`, { open: number % 10 === 0 })],
          said: ["x".repeat(500)],
        }),
      ),
    ),
  );
  await store.keepNote("kept", "text");
  await store.close();
  return { folder, path: join(folder, "threads.db") };
}

/** Overwrites the pages with the documents of these threads. */
async function damagePagesOf(path: string, numbers: readonly number[]): Promise<void> {
  const bytes = await readFile(path);
  for (const number of numbers) {
    const at = bytes.indexOf(`"id":"${idAt(number)}"`);
    if (at < 0) continue;
    const page = Math.floor(at / pageBytes) * pageBytes;
    bytes.fill(0xa5, page, page + pageBytes);
  }
  await writeFile(path, bytes);
}

/** Returns for each thread `found`, the name of the error, or null if it is unknown. */
async function knownOf(store: LocalStore): Promise<(string | null)[]> {
  return Promise.all(
    Array.from({ length: many }, (_, number) =>
      store.find(`p${number}`).then(
        (thread) => (thread === null ? null : thread.id === idAt(number) ? "found" : "another"),
        (error: unknown) => (error instanceof Error ? error.name : "unknown"),
      ),
    ),
  );
}

/** The same after a start and an orderly stop. */
async function knownOnce(folder: string): Promise<(string | null)[]> {
  const store = await open(folder);
  const known = await knownOf(store);
  await store.close();
  return known;
}

test("damage found at run time rejects changes with a sentence, and the next start keeps the readable threads", async () => {
  const { folder, path } = await fullFolder();
  await damagePagesOf(path, [100, 150, 200]);
  const { log, lines } = memoryLog();
  const store = await open(folder, { log });
  await expect(store.find("p100")).rejects.toBeInstanceOf(StoreDamaged);
  await expect(see(store, "p150", "e")).rejects.toMatchObject({
    name: "StoreDamaged",
    message: expect.stringMatching(
      /^The store could not .+ the database \S+threads\.db is damaged\. Restart the bot: .+\.$/,
    ),
  });
  expect(lines.filter(({ message }) => message.includes("is damaged"))).toHaveLength(1);
  await expect(store.writable()).rejects.toBeInstanceOf(StoreDamaged);
  const before = await knownOf(store);
  expect(before.filter((each) => each === "found").length).toBeGreaterThan(250);
  expect(await see(store, "p1", "after the damage")).toBe(1);
  await store.close();

  const next = memoryLog();
  const saved = await open(folder, { log: next.log });
  const [report, ...others] = next.lines;
  expect(others).toEqual([]);
  expect(report?.message).toMatch(/was damaged; it was set aside, and its readable threads were kept$/);
  const after = await knownOf(saved);
  expect(after).toEqual(before.map((each) => (each === "StoreDamaged" ? "ThreadUnreadable" : each)));
  const lost = after.filter((each) => each !== "found").length;
  expect(report?.fields).toEqual({ threads: many - lost, lost, aside: join(folder, "damaged-threads") });
  expect((await saved.find("p1"))?.seen).toEqual(["after the damage"]);
  expect(await saved.note("kept")).toBe("text");
  const unsettled = Array.from({ length: many / 10 }, (_, step) => 10 * step).filter(
    (at) => after[at] === "found",
  );
  expect(await ids(saved.unsettled())).toEqual(unsettled.map(idAt).sort());
  expect((await readdir(join(folder, "damaged-threads"))).sort()).toContain("threads.db");
  await expect(see(saved, "p100", "e")).rejects.toBeInstanceOf(ThreadUnreadable);
  await put(saved, newThread("new", { places: ["new-place"] }));
  expect(await knownOf(saved)).toEqual(after);
  await saved.writable();
  await saved.close();

  const quiet = memoryLog();
  expect(await knownOf(await open(folder, { log: quiet.log }))).toEqual(after);
  expect(quiet.lines).toEqual([]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("an unsettled thread on a damaged page does not hide the others", async () => {
  const { folder, path } = await fullFolder();
  await damagePagesOf(path, [100]);
  const store = await open(folder);
  const found = await ids(store.unsettled());
  expect(found).not.toContain("t100");
  expect(found.length).toBeGreaterThan(25);
});

test("the readable threads of a truncated database are kept", async () => {
  const { folder, path } = await fullFolder();
  await truncate(path, Math.floor((await stat(path)).size / pageBytes / 2) * pageBytes);
  const { log, lines } = memoryLog();
  const store = await open(folder, { log });
  expect(lines.map(({ level }) => level)).toEqual(["error"]);
  const known = await knownOf(store);
  expect(known.filter((each) => each === "found").length).toBeGreaterThan(50);
  expect(known).not.toContain("another");
  await put(store, newThread("new"));
  expect((await store.find("new"))?.id).toBe("new");
});

test.each([
  ["a number beyond JavaScript's", "UPDATE ref SET thread = 9223372036854775807 WHERE ref IN ('p1', 'gone')"],
  [
    "a number beyond all that were given",
    "UPDATE ref SET thread = 4000000000000000 WHERE ref IN ('p1', 'gone')",
  ],
  ["a negative number", "UPDATE ref SET thread = -1 WHERE ref IN ('p1', 'gone')"],
  ["a text instead of a number", "UPDATE ref SET thread = 'damaged' WHERE ref IN ('p1', 'gone')"],
  [
    "another thread's number",
    "UPDATE ref SET thread = (SELECT thread FROM ref WHERE ref = 'p7') WHERE ref = 'p1'",
  ],
  ["no text", "UPDATE thread SET id = x'00ff' WHERE id = 't100'"],
  ["a day for an unsettled thread", "UPDATE thread SET settled = 1 WHERE id IN ('t0', 't10')"],
])(
  "damage that left %s prevents neither the start nor the salvage of readable threads",
  async (_what, sql) => {
    const { folder, path } = await fullFolder();
    rowsIn(folder, "INSERT INTO ref VALUES ('gone', 2000000)");
    rowsIn(folder, sql);
    await damagePagesOf(path, [100]);
    await writeFile(damageMark(path), "");
    const store = await open(folder);
    const known = await knownOf(store);
    expect(known).not.toContain(null);
    expect(known).not.toContain("another");
    expect(known.filter((each) => each === "found").length).toBeGreaterThan(many - 20);
    expect(known[1]).toBe("found");
    expect(await ids(store.unsettled())).toEqual(expect.arrayContaining(["t0", "t10"]));
    for (const id of ["new", "newer"]) await put(store, newThread(id));
    expect([(await store.find("new"))?.id, (await store.find("newer"))?.id]).toEqual(["new", "newer"]);
  },
  20_000,
);

test("a file that is not a database is set aside, and the bot starts without threads", async () => {
  const { folder, path } = await fullFolder();
  const text = "no database at all, but long enough to be read as one".repeat(100);
  await writeFile(path, text);
  const { log, lines } = memoryLog();
  const store = await open(folder, { log });
  expect(lines.map(({ level, fields }) => [level, fields])).toEqual([
    ["error", { threads: 0, lost: 0, aside: join(folder, "damaged-threads") }],
  ]);
  expect(await readFile(join(folder, "damaged-threads", "threads.db"), "utf8")).toBe(text);
  expect(await see(store, "p1", "e")).toBe(1);
});

const zeroed =
  (from: number, to: number) =>
  (bytes: Buffer): Buffer =>
    bytes.fill(0, from, to);

test.each([
  ["without its first 16 bytes", zeroed(0, 16)],
  ["without its first page", zeroed(0, pageBytes)],
  ["without the number of its format", zeroed(60, 64)],
  ["without the list of its tables", zeroed(100, 108)],
  [
    "with too few pages and no format",
    (bytes: Buffer): Buffer => {
      bytes.writeUInt32BE(36, 28);
      return bytes.fill(0, 60, 64);
    },
  ],
  [
    "with a renamed column",
    (bytes: Buffer): Buffer => {
      bytes.write("documemt", bytes.indexOf("document TEXT"));
      return bytes;
    },
  ],
])("a database %s keeps all threads", async (_what, damage) => {
  const { folder, path } = await fullFolder();
  await writeFile(path, damage(await readFile(path)));
  const { log, lines } = memoryLog();
  const store = await open(folder, { log });
  expect(lines.map(({ fields }) => fields)).toEqual([
    { threads: many, lost: 0, aside: join(folder, "damaged-threads") },
  ]);
  expect(await knownOf(store)).toEqual(Array.from({ length: many }, () => "found"));
  expect(await store.note("kept")).toBe("text");
  expect(await ids(store.unsettled())).toHaveLength(many / 10);
  await store.close();
  expect((await readdir(folder)).filter((name) => name.startsWith("threads.db"))).toEqual(["threads.db"]);
  const quiet = memoryLog();
  await open(folder, { log: quiet.log });
  expect(quiet.lines).toEqual([]);
});

test("a database without its first page keeps the threads of its write-ahead log", async () => {
  const source = await fullFolder();
  const running = await open(source.folder);
  await put(running, newThread("late", { places: ["late-place"] }));
  const folder = await newFolder();
  const path = join(folder, "threads.db");
  await writeFile(path, zeroed(0, pageBytes)(await readFile(source.path)));
  await copyFile(`${source.path}-wal`, `${path}-wal`);
  const store = await open(folder);
  expect((await store.find("late-place"))?.id).toBe("late");
  expect(new Set(await knownOf(store))).toEqual(new Set(["found"]));
});

test("if refs are lost too, the log says that their requests may be started again", async () => {
  const { folder, path } = await fullFolder();
  const bytes = await readFile(path);
  const page = Math.floor(bytes.lastIndexOf("run:r100") / pageBytes) * pageBytes;
  await writeFile(path, bytes.fill(0xa5, page, page + pageBytes));
  await writeFile(damageMark(path), "");
  const { log, lines } = memoryLog();
  await open(folder, { log });
  expect(lines.map(({ message }) => message)).toEqual([
    expect.stringMatching(/was damaged.+requests from threads .+ may be started again/),
  ]);
});

test("an empty database is not taken for a first start: it is set aside, and the log says what to do", async () => {
  const { folder, path } = await fullFolder();
  await truncate(path, 0);
  const { log, lines } = memoryLog();
  const store = await open(folder, { log });
  expect(lines).toEqual([
    expect.objectContaining({
      level: "error",
      message: expect.stringMatching(/was empty.+set aside.+To have its threads back, stop the bot/),
      fields: { threads: 0, lost: 0, aside: join(folder, "damaged-threads") },
    }),
  ]);
  expect((await stat(join(folder, "damaged-threads", "threads.db"))).size).toBe(0);
  expect(await see(store, "p1", "e")).toBe(1);
});

test("a first start that was killed while it made the database is repeated without an error", async () => {
  const folder = await newFolder();
  await writeFile(join(folder, "threads.db.new"), "half");
  await writeFile(join(folder, "threads.db.new-wal"), "half");
  const { log, lines } = memoryLog();
  const store = await open(folder, { log });
  expect(lines).toEqual([]);
  expect(await see(store, "p1", "e")).toBe(1);
  await store.close();
  expect((await readdir(folder)).filter((name) => name.startsWith("threads.db"))).toEqual(["threads.db"]);
});

test("a salvage survives a kill at each of its steps", async () => {
  const { folder, path } = await fullFolder();
  await damagePagesOf(path, [100, 150, 200]);
  const damaged = join(folder, "copy");
  await copyFile(path, damaged);
  await writeFile(`${path}.damaged`, "");
  const expected = await knownOnce(folder);

  // A kill while the new database is written.
  await copyFile(damaged, path);
  await writeFile(`${path}.damaged`, "");
  await writeFile(`${path}.saved`, "half");
  await writeFile(`${path}.saved-wal`, "half");
  expect(await knownOnce(folder)).toEqual(expected);

  // A kill after the damaged database was moved, but not its log.
  await rename(path, `${path}.saved`);
  await writeFile(`${path}-wal`, "the damaged database's");
  await writeFile(`${path}.damaged`, "");
  expect(await knownOnce(folder)).toEqual(expected);
  expect((await readdir(folder)).filter((name) => name.startsWith("threads.db"))).toEqual(["threads.db"]);
});

test("a database that can't be opened for another reason fails the start with a sentence", async () => {
  const folder = await newFolder();
  await mkdir(join(folder, "threads.db"));
  const refusal = await open(folder).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(StoreError);
  expect(String(refusal)).toMatch(
    /The store could not open the data folder \S+: a folder is where a file should be\./,
  );
});
