import type { DatabaseSync } from "node:sqlite";
import { openToRead, type Schema } from "#disk/database.ts";
import { isDamage } from "#disk/errors.ts";

/** The runs' database is damaged. The message says what to do. */
class UnusableRuns extends Error {
  override name = "UnusableRuns";
}

/** `made` has a row for each artifact; `uid` is "" for one without. */
const familyAndFiles = `
  CREATE INDEX run_parent ON run (parent) WHERE parent IS NOT NULL;
  CREATE INDEX run_factory ON run (factory) WHERE factory IS NOT NULL;
  CREATE TABLE made (ord INTEGER, type TEXT, uid TEXT, PRIMARY KEY (ord, type, uid)) WITHOUT ROWID;
  CREATE INDEX made_type ON made (type);
  CREATE INDEX made_uid ON made (uid) WHERE uid <> '';
`;

/**
 * `run` has the columns that lists filter and sort by and no large ones, so that a scan reads few pages. `ord` is
 * the place in the order of creation. `item` has the run as JSON, and the rest of its document without `said`.
 * `said` has a row for each message, so that the end of a turn does not write the whole transcript again. Indexes
 * that include `state` and `name` answer filtered lists without reading the rows. Titles have no index: it would
 * make each insert half as expensive again, and sorting 50,000 runs without it takes 30 ms.
 */
const tables = `
  CREATE TABLE run (
    ord INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, state TEXT NOT NULL, name TEXT NOT NULL,
    model TEXT, environment TEXT, skill TEXT,
    created INTEGER NOT NULL, updated INTEGER NOT NULL, queued INTEGER NOT NULL,
    title TEXT NOT NULL, conversation TEXT, parent TEXT, factory TEXT
  );
  CREATE INDEX run_updated ON run (updated, ord, state);
  CREATE INDEX run_name_updated ON run (name, updated, ord, state);
  CREATE INDEX run_created ON run (created, ord, state, name);
  CREATE INDEX run_state ON run (state, queued);
  CREATE INDEX run_model ON run (model) WHERE model IS NOT NULL;
  CREATE INDEX run_environment ON run (environment) WHERE environment IS NOT NULL;
  CREATE INDEX run_skill ON run (skill) WHERE skill IS NOT NULL;
  CREATE INDEX run_conversation ON run (conversation) WHERE conversation IS NOT NULL;
  ${familyAndFiles}
  CREATE TABLE metadata (key TEXT, value TEXT, ord INTEGER, PRIMARY KEY (key, value, ord)) WITHOUT ROWID;
  CREATE TABLE item (ord INTEGER PRIMARY KEY, run TEXT NOT NULL, rest TEXT NOT NULL);
  CREATE TABLE said (
    ord INTEGER, position INTEGER, words TEXT NOT NULL, PRIMARY KEY (ord, position)
  ) WITHOUT ROWID;
  CREATE TABLE broken (ord INTEGER PRIMARY KEY, id TEXT NOT NULL, reason TEXT NOT NULL)
`;

/**
 * Fills what format 4 added from the runs' JSON. A damaged run gets no parent, factory and artifacts. Most runs have
 * none, which their text says; JSON escapes quotes, so no prompt says it by accident.
 */
const filled = `
  CREATE TEMP TABLE old AS SELECT ord, run FROM item WHERE (
    instr(run, '"parentRunId":null') = 0 OR instr(run, '"factoryUid":null') = 0 OR instr(run, '"artifacts":[]') = 0
  ) AND json_valid(run);
  UPDATE run SET parent = old.run ->> '$.parentRunId', factory = old.run ->> '$.factoryUid'
    FROM old WHERE old.ord = run.ord;
  INSERT OR IGNORE INTO made
    SELECT old.ord, iif(each.value ->> '$.kind' = 'file', 'FILE', 'PULL_REQUEST'), ifnull(each.value ->> '$.uid', '')
    FROM old, json_each(old.run, '$.artifacts') AS each;
  INSERT OR IGNORE INTO made SELECT old.ord, 'PULL_REQUEST', '' FROM old, json_each(old.run, '$.pullRequests');
  DROP TABLE old;
`;

const schema: Schema = {
  holds: "runs",
  tables,
  upgrades: [
    "",
    // Format 2 had four more columns in `item`, which may be null. Databases that have them keep them unused.
    "",
    `ALTER TABLE run ADD COLUMN parent TEXT; ALTER TABLE run ADD COLUMN factory TEXT; ${familyAndFiles} ${filled}`,
  ],
};

/** Opens the runs in `path` for reading. Rejects with `UnusableRuns`, `NewerDatabase` or the system's error. */
export async function openRuns(path: string): Promise<DatabaseSync> {
  try {
    const database = await openToRead(path, schema);
    database.exec("PRAGMA cache_size = -8000");
    return database;
  } catch (error) {
    throw unusable(path, error);
  }
}

/** Turns an error that says that the file is damaged into `UnusableRuns`; returns any other one unchanged. */
export function unusable(path: string, error: unknown): unknown {
  if (!isDamage(error)) return error;
  return new UnusableRuns(
    `The runs in ${path} are damaged or no database (${error.message}). ` +
      "Restore a backup, or move this file and the files whose names begin with its name away to start without runs.",
    { cause: error },
  );
}
