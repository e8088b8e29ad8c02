import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { syncFolder } from "./durable-file.ts";

/** SQL and the values of its parameters. */
export type Statement = readonly [sql: string, values: readonly SQLInputValue[]];

/** The tables of a database, by format: the number that it carries as its `user_version`. */
export interface Schema {
  /** What the database holds, for sentences, such as "threads". */
  readonly holds: string;
  /** SQL that makes the tables of the newest format. */
  readonly tables: string;
  /** SQL that brings the tables of format 1, 2 … to the next. The newest format is one more than these. */
  readonly upgrades: readonly string[];
}

/** The database was written by a newer version. The message says what to do. */
export class NewerDatabase extends Error {
  override name = "NewerDatabase";
}

/**
 * A connection to the database at `path`. A transaction is on the disk when it has been committed; readers
 * see nothing else. A lock that another program holds (for a backup, say) is waited for, for a second.
 */
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
 * A connection that only reads, to the database at `path`, which is made or brought to the newest format if
 * need be. Its owner alone can read the files. Rejects with `NewerDatabase`, or the system's or SQLite's error.
 */
export async function openToRead(path: string, schema: Schema): Promise<DatabaseSync> {
  const file = await open(path, "a", 0o600);
  await file.close();
  await syncFolder(dirname(path));
  const database = connect(path);
  try {
    upgrade(database, path, schema);
    database.exec("PRAGMA query_only = ON");
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
  const changes = found === 0 ? tables : upgrades.slice(found - 1).join(" ");
  database.exec(`BEGIN IMMEDIATE; ${changes}; PRAGMA user_version = ${newest}; COMMIT`);
}

/** Runs statements on the connection; each SQL text is prepared once. Throws SQLite's errors. */
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

/** Tells whether a path still leads to the same file. Throws the file system's error. */
export function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}
