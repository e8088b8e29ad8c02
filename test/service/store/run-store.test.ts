import { mkdir, readdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { silentLog } from "#test/support/logs.ts";
import { serving } from "#test/support/service/serving.ts";
import { documentOf, everything, idsOn, openStore } from "#test/support/service/stored-runs.ts";

test("a document is read as it was written, and a longer transcript adds rows only", async () => {
  const folder = await freshFolder();
  const runs = await openStore({ folder, now: () => 5 });
  const prompt = 'say "hi"\n\ud83d\ude00 \ud800 \0';
  const document = documentOf(1, {
    prompt,
    metadata: { ["__proto__"]: "p", key: "" },
    config: { odd: { deep: [1] } },
  });
  await runs.add(document);
  expect(await runs.read("run-1")).toEqual(document);
  const words = (text: string, turn: number) => ({ role: "user" as const, at: turn, turn, text });
  const said = [[words(prompt, 1)], [words(prompt, 1), words("two", 1)], [words("other", 2)], []];
  for (const each of said) {
    await runs.change("run-1", (before) => {
      const kept = before.said.filter((one, at) => one.text === each[at]?.text);
      return {
        document: { ...before, waiting: [], said: [...kept, ...each.slice(kept.length)] },
        result: null,
      };
    });
    expect((await runs.read("run-1"))?.said).toEqual(each);
  }
  const last = await runs.read("run-1");
  await runs.close();
  const again = await openStore({ folder });
  expect(await again.read("run-1")).toEqual(last);
  expect(again.get("run-1")).toEqual(last?.run);
});

test("changes of one run are applied one after the other, each to the result of the one before", async () => {
  const runs = await openStore();
  await runs.add(documentOf(1, { prompt: "x" }));
  const turns = await Promise.all(
    Array.from({ length: 50 }, () =>
      runs.change("run-1", (before) => ({
        document: { ...before, turn: before.turn + 1 },
        result: before.run.updatedAt,
      })),
    ),
  );
  expect((await runs.read("run-1"))?.turn).toBe(50);
  expect(new Set(turns.map((each) => each?.result)).size).toBe(50);
});

test("the queue, the counts, the places and the conversations are right before and after a restart", async () => {
  const folder = await freshFolder();
  let runs = await openStore({ folder });
  await runs.add(documentOf(1, { prompt: "x" }, { state: "SUCCEEDED" }));
  await runs.add(documentOf(2, { prompt: "x" }, { queued: 7 }));
  await runs.add(documentOf(3, { prompt: "x", conversation_id: "run-1" }));
  await runs.add(documentOf(4, { prompt: "x" }, { state: "INPROGRESS" }));
  await runs.change("run-4", (before) => ({
    document: { ...before, run: { ...before.run, state: "BLOCKED" } },
    result: null,
  }));
  for (let start = 1; start <= 2; start += 1) {
    expect(runs.unfinished().map(({ id }) => id)).toEqual(["run-3", "run-2"]);
    expect(runs.unfinishedCount()).toBe(2);
    expect(runs.nextQueued(new Set())).toBe("run-3");
    expect(runs.nextQueued(new Set(["run-3"]))).toBe("run-2");
    expect(runs.nextQueued(new Set(["run-2", "run-3"]))).toBe(null);
    expect(runs.highestPlace()).toBe(7);
    expect(runs.latestOf("run-1")).toBe("run-3");
    expect(runs.latestOf("run-2")).toBe("run-2");
    expect(runs.latestOf("run-3")).toBe(null);
    await runs.close();
    runs = await openStore({ folder });
  }
});

test.each([1, 2, 3])(
  "the runs in a database of format %i can be read, changed and filtered",
  async (format) => {
    const folder = await freshFolder();
    const first = await openStore({ folder });
    const file = {
      kind: "file",
      uid: "u-1",
      name: "a",
      path: "/a",
      mime: "text/plain",
      bytes: 1,
      at: 1,
    } as const;
    const pull = { kind: "pull_request", url: "https://x/a/b/pull/1", branch: "", at: 1 } as const;
    const document = documentOf(1, { prompt: "x" }, { artifacts: [file, pull], factoryUid: "f-1" });
    await first.add(document);
    await first.add(documentOf(2, { prompt: "x", parent_run_id: "run-1" }));
    await first.add(documentOf(3, { prompt: "damaged", parent_run_id: "run-1" }));
    await first.close();
    const database = new DatabaseSync(join(folder, "runs.db"));
    database.exec(`
    DROP INDEX run_parent; DROP INDEX run_factory; DROP TABLE made;
    ALTER TABLE run DROP COLUMN parent; ALTER TABLE run DROP COLUMN factory;
    UPDATE item SET run = '{' WHERE ord = 3;
  `);
    if (format === 2) {
      for (const column of ["wire TEXT", "secret TEXT", "tail INTEGER", "sum INTEGER"]) {
        database.exec(`ALTER TABLE item ADD COLUMN ${column}`);
      }
    }
    database.exec(`PRAGMA user_version = ${format}`);
    database.close();

    const runs = await openStore({ folder });

    expect(runs.get("run-1")).toEqual(document.run);
    expect(await idsOn(runs, { ...everything, ancestor_run_id: "run-1" })).toEqual(["run-2"]);
    expect(await idsOn(runs, { ...everything, factory_uid: "f-1" })).toEqual(["run-1"]);
    expect(await idsOn(runs, { ...everything, artifact_type: "FILE" })).toEqual(["run-1"]);
    expect(await idsOn(runs, { ...everything, artifact_type: "PULL_REQUEST" })).toEqual(["run-1"]);
    expect(runs.withArtifact("u-1")).toBe("run-1");
    expect(runs.withArtifact("")).toBe(null);
    await runs.change("run-1", (before) => ({ document: { ...before, turn: 7 }, result: null }));
    expect(await runs.read("run-1")).toMatchObject({ turn: 7, said: [], run: { prompt: "x" } });
  },
);

test("a run that is fetched repeatedly always has its latest durable state", async () => {
  const runs = await openStore();
  await runs.add(documentOf(1, { prompt: "hello" }));
  for (const state of ["PENDING", "CLAIMED", "INPROGRESS"] as const) {
    await runs.change("run-1", (before) => ({
      document: { ...before, run: { ...before.run, state } },
      result: null,
    }));
    for (let time = 0; time < 3; time += 1) expect(runs.get("run-1")).toMatchObject({ state });
  }
  expect(runs.get("nobody")).toBeNull();
});

test("only its owner can read the runs", async () => {
  const folder = join(await freshFolder(), "service");
  const runs = await openStore({ folder });
  await runs.add(documentOf(1, { prompt: "x" }));
  const modes = new Map<string, number>();
  for (const name of await readdir(folder)) modes.set(name, (await stat(join(folder, name))).mode & 0o777);
  expect(Object.fromEntries(modes)).toEqual({ "runs.db": 0o600, "runs.db-wal": 0o600, "runs.db-shm": 0o600 });
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test("a file that is no database, is truncated or has a newer format stops the start with an explanation and stays unchanged", async () => {
  const folder = await freshFolder();
  const path = join(folder, "service", "runs.db");
  const first = await serving({ folder });
  await first.api.create({ prompt: "x" });
  await first.stop();
  const whole = await readFile(path);
  const refused = (sentence: RegExp) =>
    expect(serving({ folder })).rejects.toMatchObject({
      name: expect.stringMatching(/^UnusableRuns$|^NewerDatabase$/),
      message: expect.stringMatching(sentence),
    });

  await writeFile(path, "no database at all, but long enough to be read as one".repeat(100));
  await refused(/runs\.db are damaged.*Restore a backup, or move this file/);
  await writeFile(path, whole);
  await truncate(path, whole.length / 2);
  await refused(/damaged/);
  expect((await stat(path)).size).toBe(whole.length / 2);
  await writeFile(path, whole);
  const database = new DatabaseSync(path);
  database.exec("PRAGMA user_version = 99");
  database.close();
  await refused(
    /newer version \(format 99; this one reads \d+\)\. Start that version again, or move the file away/,
  );

  // Each failed start released the folder.
  await writeFile(path, whole);
  const { api } = await serving({ folder });
  expect((await api.list("")).runs.map(({ prompt }) => prompt)).toEqual(["x"]);
});

test("a write that fails does not affect the other writes of its transaction", async () => {
  const runs = await openStore();
  const documents = [1, 2, 3, 2].map((order) => documentOf(order, { prompt: "x" }));
  const [one, two, three, other] = documents;
  if (!one || !two || !three || !other) throw new Error("no documents");
  // Two runs with the same place.
  const clash = { ...other, run: { ...other.run, id: "other" } };
  const done = await Promise.allSettled([one, two, clash, three].map((each) => runs.add(each)));
  expect(done.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  expect((await idsOn(runs, everything)).sort()).toEqual(["run-1", "run-2", "run-3"]);
});

/** A run as earlier versions stored it. */
async function keepAsFile(folder: string, order: number, text?: string): Promise<void> {
  const { run, ...rest } = documentOf(order, { prompt: `prompt ${order}` });
  const { artifacts: _, factoryUid: __, attachments: ___, ...old } = run;
  const document = { ...rest, version: 1, run: { ...old, pullRequests: [] } };
  await mkdir(join(folder, "runs"), { recursive: true });
  await writeFile(join(folder, "runs", `${run.id}.json`), text ?? JSON.stringify(document));
}

test("runs that an earlier version kept in files are imported once, and their folder is renamed", async () => {
  const folder = await freshFolder();
  for (let order = 1; order <= 450; order += 1) await keepAsFile(folder, order);
  await keepAsFile(folder, 451, "{");
  await keepAsFile(folder, 452, JSON.stringify(documentOf(453, { prompt: "of another" })));
  await writeFile(join(folder, "runs", ".run-1.json.half.tmp"), "{");
  const logged: string[] = [];
  const log = { ...silentLog, error: (message: string) => void logged.push(message) };

  let runs = await openStore({ folder, log });
  const filter = { ...everything, limit: 500, sort_by: "created_at", sort_order: "asc" } as const;
  const ids = Array.from({ length: 450 }, (_, at) => `run-${at + 1}`);
  expect(await idsOn(runs, filter)).toEqual(ids);
  expect(await runs.read("run-7")).toEqual(documentOf(7, { prompt: "prompt 7" }));
  expect(logged).toHaveLength(2);
  expect((await readdir(folder)).filter((name) => name.startsWith("runs") && !name.includes("."))).toEqual(
    [],
  );
  const aside = await readdir(join(folder, "runs.imported"));
  expect(aside.filter((name) => name.endsWith(".broken")).sort()).toEqual([
    "run-451.json.broken",
    "run-452.json.broken",
  ]);
  expect(aside.filter((name) => name.endsWith(".json"))).toHaveLength(450);

  await runs.change("run-7", (before) => ({ document: { ...before, turn: 5 }, result: null }));
  await runs.close();
  runs = await openStore({ folder });
  expect(await idsOn(runs, filter)).toEqual(ids);
  expect((await runs.read("run-7"))?.turn).toBe(5);
});
