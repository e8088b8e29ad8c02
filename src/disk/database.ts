import { existsSync, rmSync, statSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { syncFolder } from "./durable-file.ts";
import { sqliteCorrupt } from "./errors.ts";

/** SQL and the values of its parameters. */
export type Statement = readonly [sql: string, values: readonly SQLInputValue[]];

/** The tables of a database. Its `user_version` is the number of their format. */
export interface Schema {
  /** The content for sentences, such as "threads". */
  readonly holds: string;
  /** SQL that creates the tables of the newest format. */
  readonly tables: string;
  /** SQL that upgrades format 1, 2 … to the next. The number of the newest format is one more than their count. */
  readonly upgrades: readonly string[];
}

/** The database was written by a newer version. The message says what to do. */
export class NewerDatabase extends Error {
  override name = "NewerDatabase";
}

/** A database has tables but no valid `user_version`. Its code makes it damage like SQLite's own findings. */
class FormatLost extends Error {
  override name = "FormatLost";
  readonly errcode = sqliteCorrupt;
}

/** Opens the database at `path` with durable commits; waits a second for locks. Throws SQLite's error. */
export function connect(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 1000 });
  try {
    database.exec(`
      PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
      PRAGMA wal_autocheckpoint = 2000; PRAGMA journal_size_limit = 16000000;
    `);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Opens the database at `path` for reading, after creating or upgrading it if necessary. Only the owner can read
 * the files. A database appears under its name with its tables, so a kill leaves no empty file. Rejects with
 * `NewerDatabase`, or the system's or SQLite's error.
 */
export async function openToRead(path: string, schema: Schema): Promise<DatabaseSync> {
  if (!existsSync(path)) {
    const unfinished = `${path}.new`;
    removeDatabase(unfinished);
    await (await open(unfinished, "w", 0o600)).close();
    openUpgraded(unfinished, schema).close();
    // SQLite would replay the log of a removed database.
    removeDatabase(path);
    await rename(unfinished, path);
  }
  // Unlike SQLite's, the system's errors say why a file can't be opened.
  await (await open(path, "r+")).close();
  await syncFolder(dirname(path));
  const database = openUpgraded(path, schema);
  database.exec("PRAGMA query_only = ON");
  return database;
}

/** Removes the database at `path` with its log, as far as they exist. Throws the file system's error. */
export function removeDatabase(path: string): void {
  for (const ending of ["", "-wal", "-shm"]) rmSync(path + ending, { force: true });
}

function openUpgraded(path: string, schema: Schema): DatabaseSync {
  const database = connect(path);
  try {
    upgrade(database, path, schema);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function upgrade(database: DatabaseSync, path: string, { holds, tables, upgrades }: Schema): void {
  const newest = upgrades.length + 1;
  const found = Number(database.prepare("PRAGMA user_version").get()?.user_version);
  if (found > newest) {
    throw new NewerDatabase(
      `The ${holds} in ${path} were written by a newer version (format ${found}; this one reads ${newest}). ` +
        `Start that version again, or move the file away to begin without its ${holds}.`,
    );
  }
  if (found === newest) return;
  const isEmpty = database.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
  if (found < 0 || (found === 0 && !isEmpty)) throw new FormatLost("the number of its format is lost");
  const changes = found === 0 ? tables : upgrades.slice(found - 1).join(" ");
  database.exec(`BEGIN IMMEDIATE; ${changes}; PRAGMA user_version = ${newest}; COMMIT`);
}

/** Returns a function that runs statements, preparing each SQL text once. Throws SQLite's errors. */
export function statementRunner(database: DatabaseSync): (statements: readonly Statement[]) => void {
  const prepared = new Map<string, StatementSync>();
  return (statements) => {
    for (const [sql, values] of statements) {
      let statement = prepared.get(sql);
      if (statement === undefined) {
        statement = database.prepare(sql);
        prepared.set(sql, statement);
      }
      statement.run(...values);
    }
  };
}

/** Returns device and inode of the file at `path`. Throws the file system's error. */
export function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}
