/** The baseline: the same statements over node:sqlite, each change in its own transaction on the main thread. */

import type { Thread } from "#core/thread.ts";
import { connect, statementRunner } from "#disk/database.ts";
import { readThread } from "#store/thread-shape.ts";
import { putThread } from "#store/thread-statements.ts";
import { lastNumberIn } from "#store/thread-tables.ts";

/** Opens a database that has the store's tables. */
export function openSqlite(path: string) {
  const database = connect(path);
  const run = statementRunner(database);
  const select = database.prepare(
    "SELECT number, document FROM ref JOIN thread ON thread.number = ref.thread WHERE ref = ?",
  );
  let last = lastNumberIn(database);

  function put(number: number, before: Thread | null, after: Thread): void {
    database.exec("BEGIN IMMEDIATE");
    run(putThread(number, before, after, JSON.stringify(after)));
    database.exec("COMMIT");
  }

  return {
    change(id: string, fn: (thread: Thread) => Thread): void {
      const row = select.get(id);
      const found = readThread(String(row?.document));
      if (found.kind !== "thread") throw new Error(`the thread ${id} ${found.reason}`);
      put(Number(row?.number), found.thread, fn(found.thread));
    },
    add(thread: Thread): void {
      if (select.get(thread.id) !== undefined) throw new Error(`the thread ${thread.id} is there already`);
      last += 1;
      put(last, null, thread);
    },
    close: () => database.close(),
  };
}
