/** The threads' tables, and the statements that write to them. Each write may be repeated. */

import { hash } from "node:crypto";
import { type Ref, threadRef } from "#core/place.ts";
import { isSettled, refsOf, type Thread } from "#core/thread.ts";
import type { Schema, Statement } from "#disk/database.ts";
import type { Write } from "#disk/database-writer.ts";

/**
 * `document` is the thread as JSON. `settled` is the day on which a settled thread changed last, in days since
 * the epoch, and null while the thread is unsettled: most changes leave it, and its index, as they are. `ref` has
 * one row for each ref of a thread, its id included, so that two threads can't have the same. A number that has
 * refs and no thread is one of `broken`: its document can't be read, and is kept there as it was.
 */
export const schema: Schema = {
  holds: "threads",
  tables: `
    CREATE TABLE thread (
      number INTEGER PRIMARY KEY, id TEXT NOT NULL, settled INTEGER, document TEXT NOT NULL
    );
    CREATE INDEX thread_settled ON thread (settled);
    CREATE TABLE ref (ref TEXT PRIMARY KEY, thread INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE note (name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE broken (number INTEGER PRIMARY KEY, id TEXT, reason TEXT NOT NULL, document TEXT NOT NULL)
  `,
  upgrades: [],
};

const dayMs = 24 * 60 * 60 * 1000;
const dayOf = (ms: number): number => Math.floor(ms / dayMs);
/** The value of the column `settled`. */
export const settledOf = (thread: Thread): number | null =>
  isSettled(thread) ? dayOf(Date.parse(thread.changedAt)) : null;

/** The numbers and ids of some settled threads that last changed before the day of `limitMs`. */
export const selectOld = (limitMs: number, most: number): Statement => [
  "SELECT number, id FROM thread WHERE settled < ? LIMIT ?",
  [dayOf(limitMs), most],
];

/** All refs of the thread, each once, its id first. */
export const allRefsOf = (thread: Thread): readonly Ref[] => [...new Set([thread.id, ...refsOf(thread)])];

/** The refs that lead to `after` and did not lead to `before`. */
export function addedRefs(before: Thread | null, after: Thread): readonly Ref[] {
  const known = new Set(before === null ? [] : allRefsOf(before));
  return allRefsOf(after).filter((ref) => !known.has(ref));
}

/** SQLITE_CONSTRAINT_NOTNULL: what a ref fails with that leads to another thread already. */
export const refTakenCode = 1299;
const claimRef = `
  INSERT INTO ref VALUES (?, ?)
  ON CONFLICT (ref) DO UPDATE SET thread = CASE thread WHEN excluded.thread THEN thread END`;
const releaseRef = "DELETE FROM ref WHERE ref = ? AND thread = ?";

/**
 * Writes the thread with this number, `document` being its JSON, and its refs. Fails with `refTakenCode` if one
 * of them is another thread's; `claimOf` gives other SQL for a ref that the thread claims.
 */
export function putThread(
  number: number,
  before: Thread | null,
  after: Thread,
  document: string,
  claimOf: (ref: Ref, thread: Thread) => string = () => claimRef,
): Write {
  const settled = settledOf(after);
  const claims = addedRefs(before, after).map((ref): Statement => [claimOf(ref, after), [ref, number]]);
  if (before === null) {
    return [
      ["INSERT OR REPLACE INTO thread VALUES (?, ?, ?, ?)", [number, after.id, settled, document]],
      ...claims,
    ];
  }
  const given = addedRefs(after, before).map((ref): Statement => [releaseRef, [ref, number]]);
  // An index is written whenever its column is set, to the same value too.
  const put: Statement =
    settled === settledOf(before)
      ? ["UPDATE thread SET document = ? WHERE number = ?", [document, number]]
      : ["UPDATE thread SET document = ?, settled = ? WHERE number = ?", [document, settled, number]];
  return [put, ...given, ...claims];
}

/** Removes the thread with this number and its refs. */
export const removeThread = (number: number, thread: Thread): Write => [
  ...allRefsOf(thread).map((ref): Statement => [releaseRef, [ref, number]]),
  ["DELETE FROM thread WHERE number = ?", [number]],
];

/** Moves a thread that can't be read to `broken`; its refs go on leading to it. */
export const setThreadAside = (number: number, reason: string): Write => [
  [
    "INSERT OR REPLACE INTO broken SELECT number, id, ?, document FROM thread WHERE number = ?",
    [reason, number],
  ],
  ["DELETE FROM thread WHERE number = ?", [number]],
];

/** Keeps the text under the name, in place of what was there. */
export const putNote = (name: string, text: string): Write => [
  ["INSERT OR REPLACE INTO note VALUES (?, ?)", [name, text]],
];

/** SHA-256 of a ref, shortened to 128 bits: the names of files in which earlier versions kept threads and refs. */
export const keyOf = (ref: Ref): string => hash("sha256", ref, "hex").slice(0, 32);

/** A ref of a thread that was unreadable when it was imported from files: only its key is known. */
export const keyedRef = (key: string): Ref => `sha256:${key}`;
export const selectKeyedRef = "SELECT 1 FROM ref WHERE ref >= 'sha256:' AND ref < 'sha256;'";

const threadPrefix = threadRef("");
/** The thread's id in a ref such as `thread:<id>`; null for every other ref. */
export const idInRef = (ref: Ref): Ref | null =>
  ref.startsWith(threadPrefix) ? ref.slice(threadPrefix.length) : null;
