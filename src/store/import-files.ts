/** Imports the threads that earlier versions kept in folders of files. */
import {
  existsSync,
  mkdirSync,
  opendirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Log } from "#base/log.ts";
import type { Ref } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import { connect, statementRunner } from "#disk/database.ts";
import { syncFolder } from "#disk/durable-file.ts";
import { freeName } from "#disk/free-name.ts";
import { readThread } from "./thread-shape.ts";
import { keyedRef, keyOf, putThread } from "./thread-statements.ts";
import { lastNumberIn } from "./thread-tables.ts";

/** The folders to move: `threads` last, since its presence starts the import. */
const folders = ["index", "unsettled", "notes", "broken", "threads"];

/**
 * Imports the files of `dataDir` into the database at `path` in one transaction, then moves them to the folder
 * `threads-in-files`. After a kill, the next start repeats this and skips threads that are in the database.
 * Rejects with the file system's or SQLite's error.
 */
export async function importFiles(dataDir: string, path: string, log: Log): Promise<void> {
  if (!existsSync(join(dataDir, "threads"))) return;
  const database = connect(path);
  let imported: Imported;
  try {
    database.exec("BEGIN IMMEDIATE");
    imported = importInto(database, dataDir);
    database.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    database.close();
  }
  const aside = freeName(join(dataDir, "threads-in-files"));
  mkdirSync(aside, { mode: 0o700 });
  for (const name of folders) {
    if (existsSync(join(dataDir, name))) renameSync(join(dataDir, name), join(aside, name));
  }
  removeTemporaryFiles(join(dataDir, "tmp"));
  await syncFolder(aside);
  await syncFolder(dataDir);
  log.info("The threads of an earlier version were imported", { ...imported, aside });
  if (imported.broken > 0)
    log.error("Some threads of an earlier version can't be read", { ...imported, aside });
}

interface Imported {
  readonly threads: number;
  readonly broken: number;
}

function importInto(database: DatabaseSync, dataDir: string): Imported {
  const run = statementRunner(database);
  const owner = database.prepare(
    "SELECT ref.thread, thread.id FROM ref LEFT JOIN thread ON thread.number = ref.thread WHERE ref.ref = ?",
  );
  let last = lastNumberIn(database);
  let threads = 0;
  /** Numbers of unreadable documents and index entries, by key. */
  const broken = new Map<string, number>();

  /**
   * Two documents may name one place, after somebody removed its index entry. The place leads where it led before:
   * to the thread that began with it, else where the index says.
   */
  function claimOf(ref: Ref, thread: Thread): string {
    const known = owner.get(ref);
    if (known === undefined || ref === thread.id) return "INSERT OR REPLACE INTO ref VALUES (?, ?)";
    const entry = join(dataDir, "index", keyOf(ref));
    const isIndexed = existsSync(entry) && readFileSync(entry, "utf8").trimEnd() === thread.id;
    return `INSERT OR ${isIndexed && known.id !== ref ? "REPLACE" : "IGNORE"} INTO ref VALUES (?, ?)`;
  }

  function addBroken(key: string, reason: string, text: string): void {
    const known = owner.get(keyedRef(key));
    if (known !== undefined) return void broken.set(key, Number(known.thread));
    last += 1;
    broken.set(key, last);
    run([
      ["INSERT INTO broken VALUES (?, NULL, ?, ?)", [last, reason, text]],
      ["INSERT INTO ref VALUES (?, ?)", [keyedRef(key), last]],
    ]);
  }

  for (const { name, text } of filesIn(join(dataDir, "threads"), documentName)) {
    const found = readThread(text);
    if (found.kind === "thread" && keyOf(found.thread.id) === name) {
      if (owner.get(found.thread.id)?.id === found.thread.id) continue;
      last += 1;
      threads += 1;
      run(putThread(last, null, found.thread, text, claimOf));
      continue;
    }
    const reason = found.kind === "thread" ? "is another thread's" : found.reason;
    addBroken(name, `its document ${reason}`, text);
  }
  for (const { name, text } of filesIn(join(dataDir, "broken"), documentName)) {
    addBroken(name, "its document was set aside by an earlier version", text);
  }
  if (broken.size > 0) importIndex();
  for (const { name, text } of filesIn(join(dataDir, "notes"), /^(.+)$/)) {
    run([["INSERT OR IGNORE INTO note VALUES (?, ?)", [name, text]]]);
  }
  return { threads, broken: broken.size };

  /** Imports the refs of unreadable documents, which only the index has. */
  function importIndex(): void {
    const torn = new Map<string, string>();
    for (const { name, text } of filesIn(join(dataDir, "index"), /^([0-9a-f]{32})$/)) {
      const number = broken.get(keyOf(text.trimEnd()));
      if (!/^[^\n]+\n$/.test(text)) torn.set(name, text);
      else if (number !== undefined)
        run([["INSERT OR IGNORE INTO ref VALUES (?, ?)", [keyedRef(name), number]]]);
    }
    if (torn.size === 0) return;
    for (const { ref } of database.prepare("SELECT ref FROM ref").iterate()) torn.delete(keyOf(String(ref)));
    for (const [key, text] of torn) addBroken(key, "its index entry can't be read", text);
  }
}

const documentName = /^([0-9a-f]{32})\.json$/;

/** Yields the folder's files whose names match, named by the first group; none if there is no folder. */
function* filesIn(folder: string, pattern: RegExp): Generator<{ name: string; text: string }> {
  if (!existsSync(folder)) return;
  using entries = opendirSync(folder);
  for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
    const name = pattern.exec(entry.name)?.[1];
    if (name !== undefined && entry.isFile())
      yield { name, text: readFileSync(join(folder, entry.name), "utf8") };
  }
}

/** Removes temporary files of earlier versions; other files stay. */
function removeTemporaryFiles(folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-[a-z]+-\d+$/.test(name)) rmSync(join(folder, name));
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}
