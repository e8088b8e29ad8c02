/** Opens the threads' database, and salvages a damaged one. */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync, type SQLOutputValue, type StatementSync } from "node:sqlite";
import type { Log } from "#base/log.ts";
import { connect, openToRead, removeDatabase, statementRunner } from "#disk/database.ts";
import { syncFolder } from "#disk/durable-file.ts";
import { isDamage, sqliteCodeOf } from "#disk/errors.ts";
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
  const repaired = `${path}.repaired`;
  // The damaged database is moved only after the saved one is complete.
  if (existsSync(saved) && !existsSync(path)) await replace(path, saved);
  for (const each of [saved, repaired]) removeDatabase(each);
  // A new database gets its name when it has its tables, so an empty file is no first start.
  const isEmpty = statSync(path, { throwIfNoEntry: false })?.size === 0;
  try {
    if (!isEmpty && !existsSync(damageMark(path))) return await openSound(path);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
  }
  const { threads, lost, hasAllRefs } = await salvage(path, saved, repaired);
  const aside = await replace(path, saved);
  removeDatabase(repaired);
  log.error(isEmpty ? emptyMessage : hasAllRefs ? damagedMessage : damagedMessage + forgottenMessage, {
    threads,
    lost,
    aside,
  });
  return openSound(path);
}

const damagedMessage =
  "The threads' database was damaged; it was set aside, and its readable threads were kept";
const forgottenMessage =
  ". Some of its refs are lost: requests from threads that were lost with all their refs may be started again";
const emptyMessage =
  "The threads' database was empty, perhaps after an incomplete copy; it was set aside, and the bot starts without " +
  "its threads. To have its threads back, stop the bot and put a complete copy in its place";

/** SQLite's code for a table or column that does not exist: the list of the tables is damaged. */
const sqliteError = 1;
const isUnreadable = (error: unknown): boolean => isDamage(error) || sqliteCodeOf(error) === sqliteError;

/** The columns to salvage, the key first. */
const columns = {
  ref: ["ref", "thread"],
  note: ["name", "text"],
  broken: ["number", "id", "reason", "document"],
  thread: ["number", "id", "document"],
} as const;
type Table = keyof typeof columns;
const rowsOf = (table: Table): string => `SELECT ${columns[table].join(", ")} FROM ${table}`;

/** Opens the database and tries the queries of a start. Rejects with SQLite's error if it is damaged there. */
async function openSound(path: string): Promise<DatabaseSync> {
  const database = await openToRead(path, schema);
  try {
    lastNumberIn(database);
    database.prepare("SELECT number FROM thread WHERE settled IS NULL").all();
    for (const table of ["ref", "note", "broken", "thread"] as const) database.prepare(rowsOf(table));
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

/**
 * Copies the readable rows of the database at `path` to a new one at `saved`, durably; may leave a file at
 * `repaired`.
 */
async function salvage(
  path: string,
  saved: string,
  repaired: string,
): Promise<{ threads: number; lost: number; hasAllRefs: boolean }> {
  (await openToRead(saved, schema)).close();
  const firstPage = firstPageOf(saved);
  const database = connect(saved);
  database.exec("BEGIN");
  const whole = new Set<Table>();
  // SQLite drops the log of an empty file.
  if (statSync(path).size > 0) keepRows(path, database, whole);
  // A damaged first page may hide any row of the first reading without an error.
  copyWithFirstPage(path, repaired, firstPage);
  keepRows(repaired, database, whole);
  // The refs of lost threads stay, so that no new thread takes their place.
  const lost = database
    .prepare(`
      INSERT INTO broken SELECT DISTINCT thread, NULL, 'it was lost in a damaged database', '' FROM ref
      WHERE thread NOT IN (SELECT number FROM thread) AND thread NOT IN (SELECT number FROM broken)`)
    .run().changes;
  database.exec("COMMIT");
  const threads = Number(database.prepare("SELECT count(*) AS threads FROM thread").get()?.threads);
  database.close();
  return { threads, lost: Number(lost), hasAllRefs: whole.has("ref") };
}

/**
 * Copies the readable rows of the database at `path`, except those that `database` has, and adds the tables without
 * damage to `whole`.
 */
function keepRows(path: string, database: DatabaseSync, whole: Set<Table>): void {
  const run = statementRunner(database);
  const insert = (table: Table, ...values: (SQLOutputValue | undefined)[]): void => {
    const marks = values.map(() => "?").join(", ");
    run([[`INSERT OR IGNORE INTO ${table} VALUES (${marks})`, values.map((value) => value ?? null)]]);
  };
  const referred = new Set<number>();
  try {
    using damaged = openDamaged(path);
    for (const { ref, thread } of readableRows(damaged, "ref", whole)) {
      const number = numberIn(thread);
      if (typeof ref !== "string" || number === null) continue;
      insert("ref", ref, number);
      referred.add(number);
    }
    for (const { name, text } of readableRows(damaged, "note", whole)) {
      if (typeof name === "string" && typeof text === "string") insert("note", name, text);
    }
    for (const { number, id, reason, document } of readableRows(damaged, "broken", whole, referred)) {
      const known = numberIn(number);
      if (known === null) continue;
      const name = typeof id === "string" ? id : null;
      insert("broken", known, name, String(reason), String(document));
      if (name !== null) insert("ref", name, known);
    }
    for (const { number, id, document } of readableRows(damaged, "thread", whole, referred)) {
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
    // The list of the tables is damaged.
    if (!isUnreadable(error)) throw error;
  }
}

/** SQLite's default. */
const pageBytes = 4096;

/** Returns the first page of a new database: the list of the tables. */
function firstPageOf(path: string): Buffer {
  const page = Buffer.alloc(pageBytes);
  const file = openSync(path, "r");
  readSync(file, page, 0, pageBytes, 0);
  closeSync(file);
  // Without these two fields SQLite takes the number of pages from the file and knows no unused ones:
  // https://sqlite.org/fileformat2.html#the_database_header
  return page.fill(0, 28, 40);
}

/**
 * Copies a database and its log, and replaces the first page. The page of a new database fits as long as all tables
 * are made at once: later upgrades must give a new database the same first pages as an upgraded one.
 */
function copyWithFirstPage(path: string, copy: string, page: Buffer): void {
  for (const ending of ["", "-wal"]) {
    if (existsSync(path + ending)) copyFileSync(path + ending, copy + ending, constants.COPYFILE_FICLONE);
  }
  const file = openSync(copy, "r+");
  writeSync(file, page, 0, pageBytes, 0);
  closeSync(file);
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
 * Yields the readable rows of a table, some of them twice: from its beginning and its end up to the damage and, if
 * the key is `number`, one by one in between, at least the `wanted`. Integers are bigints. Adds a table without damage
 * to `whole`.
 */
function* readableRows(
  database: DatabaseSync,
  table: Table,
  whole: Set<Table>,
  wanted: ReadonlySet<number> = new Set(),
): Generator<Row> {
  const [key] = columns[table];
  const prepare = (rest: string): StatementSync => {
    const statement = database.prepare(`${rowsOf(table)} ${rest}`);
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
      whole.add(table);
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
