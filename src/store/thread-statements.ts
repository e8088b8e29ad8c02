/** The threads' tables, and the statements that write to them. Each write may be repeated. */
import { hash } from "node:crypto";
import { type Ref, threadRef } from "#core/place.ts";
import { isSettled, refsOf, type Thread } from "#core/thread.ts";
import type { Schema, Statement } from "#disk/database.ts";
import type { Write } from "#disk/database-writer.ts";

/**
 * The threads' tables. `document` is the thread as JSON. `settled` is the day of a settled thread's last change,
 * in days since the epoch, and null for an unsettled thread; most changes keep the value, and so its index. `ref`
 * has a row for each ref of a thread, its id included, so that no two threads share one. `broken` keeps unreadable
 * documents, whose numbers keep their refs.
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

/** Selects number and id of at most `most` settled threads that last changed before the day of `limitMs`. */
export const selectOld = (limitMs: number, most: number): Statement => [
  "SELECT number, id FROM thread WHERE settled < ? LIMIT ?",
  [dayOf(limitMs), most],
];

/** Returns all refs of the thread, each once, its id first. */
export const allRefsOf = (thread: Thread): readonly Ref[] => [...new Set([thread.id, ...refsOf(thread)])];

/** Returns the refs of `after` that `before` lacks. */
export function addedRefs(before: Thread | null, after: Thread): readonly Ref[] {
  const known = new Set(before === null ? [] : allRefsOf(before));
  return allRefsOf(after).filter((ref) => !known.has(ref));
}

/** SQLITE_CONSTRAINT_NOTNULL: the error of a write that claims another thread's ref. */
export const refTakenCode = 1299;
const claimRef = `
  INSERT INTO ref VALUES (?, ?)
  ON CONFLICT (ref) DO UPDATE SET thread = CASE thread WHEN excluded.thread THEN thread END`;
const releaseRef = "DELETE FROM ref WHERE ref = ? AND thread = ?";

/**
 * Writes the thread, `document` being its JSON, and its refs; fails with `refTakenCode` if one is taken. `claimOf`
 * gives other SQL for a ref that the thread claims.
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
  // SQLite writes the index whenever its column is set, even to the same value.
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

/** Moves an unreadable thread to `broken`; its refs stay. */
export const setThreadAside = (number: number, reason: string): Write => [
  [
    "INSERT OR REPLACE INTO broken SELECT number, id, ?, document FROM thread WHERE number = ?",
    [reason, number],
  ],
  ["DELETE FROM thread WHERE number = ?", [number]],
];

/** Replaces the text under the name. */
export const putNote = (name: string, text: string): Write => [
  ["INSERT OR REPLACE INTO note VALUES (?, ?)", [name, text]],
];

/** Returns the first 128 bits of the ref's SHA-256: earlier versions named files so. */
export const keyOf = (ref: Ref): string => hash("sha256", ref, "hex").slice(0, 32);

/** Returns the stored form of a ref of which only the key is known, since its file could not be read. */
export const keyedRef = (key: string): Ref => `sha256:${key}`;
/** Finds out whether there is any such ref. */
export const selectKeyedRef = "SELECT 1 FROM ref WHERE ref >= 'sha256:' AND ref < 'sha256;'";

const threadPrefix = threadRef("");
/** Returns the thread's id in a ref `thread:<id>`; null for any other ref. */
export const idInRef = (ref: Ref): Ref | null =>
  ref.startsWith(threadPrefix) ? ref.slice(threadPrefix.length) : null;
