import type { DatabaseSync } from "node:sqlite";
import { openToRead, type Schema } from "#disk/database.ts";
import { isDamage } from "#disk/errors.ts";

/** The runs' database can't be used; the message says what to do. */
class UnusableRuns extends Error {
  override name = "UnusableRuns";
}

const answering = ["wire TEXT", "secret TEXT", "tail INTEGER", "sum INTEGER"];

/**
 * `run` has the columns by which runs are found and sorted, and nothing large, so that looking through many
 * reads few pages. `ord` is the place in the order of creation. `item` has the run as JSON, and in `rest` its
 * document without run and `said`; `said` has one utterance a row, so that the end of a turn writes what was
 * said in it and not the whole transcript. The indexes that carry `state` and `name` are read in place of the
 * rows when a page is filtered. The last four columns of `item` make answers quick (stored-answer.ts); they may
 * be null. Titles have no index: it would cost each new run half as much as all the others together, for a rare
 * sorting.
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
  CREATE TABLE broken (ord INTEGER PRIMARY KEY, id TEXT NOT NULL, reason TEXT NOT NULL)
`;

const schema: Schema = {
  holds: "runs",
  tables,
  upgrades: [answering.map((column) => `ALTER TABLE item ADD COLUMN ${column}`).join("; ")],
};

/** A connection that reads the runs in `path`. Rejects with `UnusableRuns` or `NewerDatabase` if it can't. */
export async function openRuns(path: string): Promise<DatabaseSync> {
  try {
    const database = await openToRead(path, schema);
    database.exec("PRAGMA cache_size = -8000");
    return database;
  } catch (error) {
    throw unusable(path, error);
  }
}

/** The error, or a sentence in place of one that says that the file is damaged. */
export function unusable(path: string, error: unknown): unknown {
  if (!isDamage(error)) return error;
  return new UnusableRuns(
    `The runs in ${path} are damaged or no database (${error.message}). ` +
      "Put a backup in its place, or move it and the files beside it that begin with its name away to begin without its runs.",
    { cause: error },
  );
}
