import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { syncFolder } from "#disk/durable-file.ts";

/** The runs' database can't be used; the message says what to do. */
class UnusableRuns extends Error {
  override name = "UnusableRuns";
}

/** Of the tables below. Whoever changes them raises it and brings the tables of lower ones up to date. */
const format = 2;
const ofThisFormat = `PRAGMA user_version = ${format};`;

const answering = ["wire TEXT", "secret TEXT", "tail INTEGER", "sum INTEGER"];

/** What the tables of each format lack, from the first on. */
const missing = [answering.map((column) => `ALTER TABLE item ADD COLUMN ${column};`).join(" ")];

/**
 * `run` holds what runs are found and sorted by, and nothing large: whoever looks through many reads few
 * pages. `ord` is the place in the order of creation. `item` has the run as JSON, and in `rest` its document
 * without run and `said`; `said` has one utterance a row, so that a turn that ends writes what was said in it
 * and not the whole transcript. The indexes that carry `state` and `name` are read in place of the rows when a
 * page is filtered. The last four columns of `item` are for answering quickly (wire-row.ts); null: it is done
 * without. There is none of the titles: it would cost each new run as much as half of the others
 * together, for a sorting that hardly anybody asks for.
 */
const tables = `
  CREATE TABLE run (
    ord INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, state TEXT NOT NULL, name TEXT NOT NULL,
    model TEXT, environment TEXT, skill TEXT,
    created INTEGER NOT NULL, updated INTEGER NOT NULL, queued INTEGER NOT NULL,
    title TEXT NOT NULL, conversation TEXT
  );
  CREATE INDEX run_updated ON run (updated, ord, state);
  CREATE INDEX run_name_updated ON run (name, updated, ord, state);
  CREATE INDEX run_created ON run (created, ord, state, name);
  CREATE INDEX run_state ON run (state, queued);
  CREATE INDEX run_model ON run (model) WHERE model IS NOT NULL;
  CREATE INDEX run_environment ON run (environment) WHERE environment IS NOT NULL;
  CREATE INDEX run_skill ON run (skill) WHERE skill IS NOT NULL;
  CREATE INDEX run_conversation ON run (conversation) WHERE conversation IS NOT NULL;
  CREATE TABLE metadata (key TEXT, value TEXT, ord INTEGER, PRIMARY KEY (key, value, ord)) WITHOUT ROWID;
  CREATE TABLE item (ord INTEGER PRIMARY KEY, run TEXT NOT NULL, rest TEXT NOT NULL, ${answering.join()});
  CREATE TABLE said (
    ord INTEGER, position INTEGER, words TEXT NOT NULL, PRIMARY KEY (ord, position)
  ) WITHOUT ROWID;
  CREATE TABLE broken (ord INTEGER PRIMARY KEY, id TEXT NOT NULL, reason TEXT NOT NULL);
  ${ofThisFormat}
`;

/**
 * A connection to the database at `path`, which must be there. Whoever has it open elsewhere (a backup, say)
 * is waited for, for a second.
 */
export function connect(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 1000 });
  try {
    // FULL: a transaction is on the disk when it has been committed. What was not is not seen by readers.
    database.exec(`
      PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
      PRAGMA cache_size = -8000; PRAGMA wal_autocheckpoint = 2000; PRAGMA journal_size_limit = 16000000;
    `);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * The database at `path`, made if it is not there, to read from: readable by its owner only, as everything
 * that SQLite puts beside it. Rejects with `UnusableRuns` if it can't be used as it is.
 */
export async function openToRead(path: string): Promise<DatabaseSync> {
  const file = await open(path, "a", 0o600);
  await file.close();
  await syncFolder(dirname(path));
  return describing(path, () => {
    const database = connect(path);
    try {
      const found = Number(database.prepare("PRAGMA user_version").get()?.user_version);
      if (found > format) {
        throw new UnusableRuns(
          `The runs in ${path} were written by a newer version (format ${found}; this one reads ${format}). ` +
            "Start that version again, or move the file away to begin without its runs.",
        );
      }
      const lacking = found === 0 ? tables : `${missing.slice(found - 1).join(" ")} ${ofThisFormat}`;
      if (found < format) database.exec(`BEGIN IMMEDIATE; ${lacking} COMMIT`);
      database.exec("PRAGMA query_only = ON");
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

/** Does `work` on the database at `path`; what is wrong with the file becomes a sentence. */
export function describing<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw new UnusableRuns(
      `The runs in ${path} are damaged or no database (${error.message}). ` +
        "Put a backup in its place, or move it and the files beside it that begin with its name away to begin without its runs.",
      { cause: error },
    );
  }
}

/** SQLITE_CORRUPT and SQLITE_NOTADB, https://sqlite.org/rescode.html; the low byte is the primary code. */
const damages: ReadonlySet<number> = new Set([11, 26]);

const isDamage = (error: unknown): error is Error =>
  error instanceof Error &&
  "errcode" in error &&
  typeof error.errcode === "number" &&
  damages.has(error.errcode & 0xff);
