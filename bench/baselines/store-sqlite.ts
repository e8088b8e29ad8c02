/** The baseline: the same change over one table of node:sqlite. */
import { DatabaseSync } from "node:sqlite";
import { sampleThread } from "#bench/store/store-fill.ts";
import type { Thread } from "#core/thread.ts";
import { readThread } from "#store/thread-shape.ts";

export function openSqlite(path: string, threads: number) {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE thread (id TEXT PRIMARY KEY, document TEXT NOT NULL) WITHOUT ROWID; BEGIN");
  const insert = database.prepare("INSERT INTO thread VALUES (?, ?)");
  for (let index = 0; index < threads; index += 1) {
    const thread = sampleThread(index);
    insert.run(thread.id, JSON.stringify(thread));
  }
  database.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  const select = database.prepare("SELECT document FROM thread WHERE id = ?");
  const update = database.prepare("UPDATE thread SET document = ? WHERE id = ?");
  return {
    change(id: string, fn: (thread: Thread) => Thread): void {
      const found = readThread(String(select.get(id)?.document));
      if (found.kind !== "thread") throw new Error(`the thread ${id} ${found.reason}`);
      update.run(JSON.stringify(fn(found.thread)), id);
    },
    close: () => database.close(),
  };
}
