/** Opens the threads' database, and salvages a damaged one. */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync, type SQLOutputValue, type StatementSync } from "node:sqlite";
import type { Log } from "#base/log.ts";
import { connect, openToRead, statementRunner } from "#disk/database.ts";
import { syncFolder } from "#disk/durable-file.ts";
import { isDamage } from "#disk/errors.ts";
import { freeName } from "#disk/free-name.ts";
import { damageMark } from "./damage.ts";
import { readThread } from "./thread-shape.ts";
import { allRefsOf, schema, settledOf } from "./thread-statements.ts";
import { lastNumberIn } from "./thread-tables.ts";

/**
 * Resolves with a connection that reads the threads in `path`. A damaged database is moved to a folder
 * `damaged-threads` beside it and replaced by its readable rows; this is logged, and repeated by the next start
 * after a kill. Rejects with `NewerDatabase`, or the system's or SQLite's error.
 */
export async function openThreads(path: string, log: Log): Promise<DatabaseSync> {
  const saved = `${path}.saved`;
  // The damaged database is moved only after the saved one is complete.
  if (existsSync(saved) && !existsSync(path)) await replace(path, saved);
  for (const ending of ["", "-wal", "-shm"]) rmSync(saved + ending, { force: true });
  try {
    if (!existsSync(damageMark(path))) return await openSound(path);
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  const { threads, lost } = await salvage(path, saved);
  const aside = await replace(path, saved);
  log.error("The threads' database was damaged; it was set aside, and its readable threads were kept", {
    threads,
    lost,
    aside,
  });
  return openSound(path);
}

/** Opens the database and tries the queries of a start. Rejects with SQLite's error if it is damaged there. */
async function openSound(path: string): Promise<DatabaseSync> {
  const database = await openToRead(path, schema);
  try {
    lastNumberIn(database);
    database.prepare("SELECT number FROM thread WHERE settled IS NULL").all();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Moves the database at `path` aside and the one at `saved` into its place; resolves with the new folder. */
async function replace(path: string, saved: string): Promise<string> {
  const aside = freeName(join(dirname(path), "damaged-threads"));
  mkdirSync(aside, { mode: 0o700 });
  // The database moves first: while it is in its place, a start repeats everything.
  for (const each of [path, `${path}-wal`, `${path}-shm`, damageMark(path)]) {
    if (existsSync(each)) renameSync(each, join(aside, basename(each)));
  }
  await syncFolder(aside);
  renameSync(saved, path);
  await syncFolder(dirname(path));
  return aside;
}

type Row = Readonly<Record<string, SQLOutputValue>>;

/** Damage leaves any value; no store has got so far with its numbers. */
const highestNumber = 1e12;
const numberIn = (value: SQLOutputValue | undefined): number | null =>
  typeof value === "bigint" && value > 0n && value <= highestNumber ? Number(value) : null;

/** Copies the readable rows of the database at `path` to a new one at `saved`, durably. */
async function salvage(path: string, saved: string): Promise<{ threads: number; lost: number }> {
  (await openToRead(saved, schema)).close();
  const database = connect(saved);
  const run = statementRunner(database);
  const insert = (table: string, ...values: (SQLOutputValue | undefined)[]): void => {
    const marks = values.map(() => "?").join(", ");
    run([[`INSERT OR IGNORE INTO ${table} VALUES (${marks})`, values.map((value) => value ?? null)]]);
  };
  database.exec("BEGIN");
  const referred = new Set<number>();
  try {
    using damaged = openDamaged(path);
    for (const { ref, thread } of readableRows(damaged, "ref", "ref")) {
      const number = numberIn(thread);
      if (typeof ref !== "string" || number === null) continue;
      insert("ref", ref, number);
      referred.add(number);
    }
    for (const { name, text } of readableRows(damaged, "note", "name")) {
      if (typeof name === "string" && typeof text === "string") insert("note", name, text);
    }
    for (const { number, id, reason, document } of readableRows(damaged, "broken", "number", referred)) {
      const known = numberIn(number);
      if (known === null) continue;
      const name = typeof id === "string" ? id : null;
      insert("broken", known, name, String(reason), String(document));
      if (name !== null) insert("ref", name, known);
    }
    for (const { number, id, document } of readableRows(damaged, "thread", "number", referred)) {
      const known = numberIn(number);
      if (known === null) continue;
      const found = readThread(String(document));
      const isWhole = found.kind === "thread" && found.thread.id === id;
      // The document counts more than the columns beside it, which nothing checks.
      insert("thread", known, String(id), isWhole ? settledOf(found.thread) : null, String(document));
      if (!isWhole) insert("ref", String(id), known);
      else {
        for (const ref of allRefsOf(found.thread)) {
          run([["INSERT OR REPLACE INTO ref VALUES (?, ?)", [ref, known]]]);
        }
      }
    }
  } catch (error) {
    // No row can be read.
    if (!isDamage(error)) throw error;
  }
  // The refs of lost threads stay, so that no new thread takes their place.
  const lost = database
    .prepare(`
      INSERT INTO broken SELECT DISTINCT thread, NULL, 'it was lost in a damaged database', '' FROM ref
      WHERE thread NOT IN (SELECT number FROM thread) AND thread NOT IN (SELECT number FROM broken)`)
    .run().changes;
  database.exec("COMMIT");
  const threads = Number(database.prepare("SELECT count(*) AS threads FROM thread").get()?.threads);
  database.close();
  return { threads, lost: Number(lost) };
}

function openDamaged(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { defensive: false });
  // Lets SQLite open a truncated file.
  database.exec("PRAGMA writable_schema = ON; PRAGMA query_only = ON");
  return database;
}

/** Numbers that are tried one by one beyond the first damage, at most; a damaged one may be any. */
const mostTried = 200_000;

/**
/**
 * Yields the readable rows of a table, some of them twice: from its beginning and its end up to the damage and, if
 * the key is `number`, one by one in between, at least the `wanted`. Integers are bigints.
 */
function* readableRows(
  database: DatabaseSync,
  table: string,
  key: string,
  wanted: ReadonlySet<number> = new Set(),
): Generator<Row> {
  const prepare = (rest: string): StatementSync => {
    const statement = database.prepare(`SELECT * FROM ${table} ${rest}`);
    statement.setReadBigInts(true);
    return statement;
  };
  const ends: (number | null)[] = [];
  for (const order of ["", "DESC"]) {
    let reached: SQLOutputValue | undefined;
    try {
      for (const row of prepare(`ORDER BY ${key} ${order}`).iterate()) {
        reached = row[key];
        yield row;
      }
      return;
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    ends.push(numberIn(reached));
  }
  if (key !== "number") return;
  const first = (ends[0] ?? 0) + 1;
  const last = Math.min(ends[1] ?? highestOf(wanted) + 1, first + mostTried);
  const between = prepare("WHERE number = ?");
  const numbers = new Set(wanted);
  for (let number = first; number < last; number += 1) numbers.add(number);
  for (const number of numbers) {
    try {
      const row = between.get(number);
      if (row !== undefined) yield row;
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }
}

function highestOf(numbers: Iterable<number>): number {
  let highest = 0;
  for (const number of numbers) highest = Math.max(highest, number);
  return highest;
}
