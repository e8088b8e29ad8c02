import type { DatabaseSync } from "node:sqlite";
import type { PutRun, Write } from "./run-rows.ts";

/** Writes to the tables of run-database.ts. */
export interface RunTables {
  /** Begins a transaction. Throws if that can't be done now. */
  begin(): void;
  /** Ends it with all of these in it; it is durable when this returns. Throws if it is not; then nothing is written. */
  commit(writes: readonly Write[]): void;
}

export function createRunTables(database: DatabaseSync): RunTables {
  const putRun = database.prepare(`
    INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET state = excluded.state, name = excluded.name, model = excluded.model,
      environment = excluded.environment, skill = excluded.skill, created = excluded.created,
      updated = excluded.updated, queued = excluded.queued, title = excluded.title,
      conversation = excluded.conversation`);
  const putItem = database.prepare("INSERT OR REPLACE INTO item VALUES (?, ?, ?, ?, ?, ?, ?)");
  const putPair = database.prepare("INSERT OR IGNORE INTO metadata VALUES (?, ?, ?)");
  const cutSaid = database.prepare("DELETE FROM said WHERE ord = ? AND position >= ?");
  const putSaid = database.prepare("INSERT INTO said VALUES (?, ?, ?)");
  const putBroken = database.prepare("INSERT INTO broken SELECT ord, id, ? FROM run WHERE id = ?");
  const removeRun = database.prepare("DELETE FROM run WHERE id = ?");

  function put({ columns, order, row, rest, metadata, saidFrom, said }: PutRun): void {
    putRun.run(...columns);
    putItem.run(order, row.run, rest, row.wire, row.secret, row.tail, row.sum);
    for (const [key, value] of metadata) putPair.run(key, value, order);
    cutSaid.run(order, saidFrom);
    for (const [at, words] of said.entries()) putSaid.run(order, saidFrom + at, words);
  }

  function one(write: Write): void {
    switch (write.kind) {
      case "put":
        return put(write);
      case "set aside":
        putBroken.run(write.reason, write.id);
        removeRun.run(write.id);
        return;
      default:
        return write satisfies never;
    }
  }

  return {
    begin: () => database.exec("BEGIN IMMEDIATE"),
    commit(writes) {
      try {
        for (const write of writes) one(write);
        database.exec("COMMIT");
      } catch (error) {
        // A full disk has ended the transaction already.
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    },
  };
}
