/** Threads for the measurements, written as the store writes them, but without an fsync for each. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Thread } from "#core/thread.ts";
import { connect, openToRead, statementRunner } from "#disk/database.ts";
import { databaseName } from "#store/open-store.ts";
import { putThread, schema } from "#store/thread-statements.ts";
import { lastNumberIn } from "#store/thread-tables.ts";

export const placeOf = (index: number): string => `slack:T1:C1:${1_700_000_000 + index}.000100`;
const runOf = (index: number): string => `0198c0de-0000-7000-8000-${String(index).padStart(12, "0")}`;

/** A thread of about 2.5 kB: one ended run, its card, twenty known events. */
export function sampleThread(index: number): Thread {
  const place = placeOf(index);
  const by = { platform: "slack", id: "U1", name: "Ada", bot: false };
  const since = "2026-01-01T00:00:00.000Z";
  const request = {
    prompt: "fix the flaky test ".repeat(20),
    title: "fix",
    config: { name: "bench" },
    metadata: {},
  };
  return {
    version: 1,
    id: place,
    scope: "slack:T1:C1",
    places: [place],
    runs: [
      {
        dispatch: `dispatch-${index}`,
        runId: runOf(index),
        name: "bench",
        by,
        asked: "fix the flaky test",
        request,
        since,
        askedAt: null,
        open: false,
        run: null,
        told: { state: "SUCCEEDED", updatedAt: since },
        reopened: false,
        delay: null,
        cancelling: false,
        failed: null,
        cards: { [place]: "1700000000.000200" },
      },
    ],
    decided: 5,
    effects: [],
    waiting: [],
    seen: Array.from({ length: 20 }, (_, step) => `slack:T1:C1:${1_700_000_000 + index + step}.000300`),
    said: [],
    muted: false,
    mutedUntil: null,
    changedAt: since,
  };
}

/** Returns the thread with one more known event and without the oldest. */
export function touched(thread: Thread | null, step: number): Thread {
  if (thread === null) throw new Error("the thread to change is not there");
  return { ...thread, seen: [...thread.seen.slice(1), `slack:T1:C1:${1_800_000_000 + step}.000300`] };
}

/** Writes that many settled threads to the data folder. */
export const fillFolder = (folder: string, threads: number): Promise<void> =>
  addThreads(folder, function* () {
    for (let index = 0; index < threads; index += 1) yield sampleThread(index);
  });

/** Adds the threads to those in the data folder, in one transaction. */
export async function addThreads(folder: string, threads: () => Iterable<Thread>): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, databaseName);
  (await openToRead(path, schema)).close();
  const database = connect(path);
  database.exec("PRAGMA synchronous = OFF; BEGIN");
  const run = statementRunner(database);
  let number = lastNumberIn(database);
  for (const thread of threads()) {
    number += 1;
    run(putThread(number, null, thread, JSON.stringify(thread)));
  }
  database.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}
