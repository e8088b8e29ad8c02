/**
 * The thread that writes to a database. Writes that arrive while the disk is busy become one transaction, and so
 * one fsync. `workerData` holds the database's path and the identity of its file.
 */
import type { DatabaseSync } from "node:sqlite";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { connect, identityOf, type Statement, statementRunner } from "./database.ts";
import type { FromThread, NumberedWrite, ToThread } from "./database-writer.ts";

/** The most writes in one transaction. */
const mostWrites = 1_000;

const port = parentPort;
if (port === null) throw new Error("this is the program of a thread");
const path = String(workerData.path);
const identity = String(workerData.identity);

interface Connection {
  readonly database: DatabaseSync;
  readonly run: (statements: readonly Statement[]) => void;
}
let opened: Connection | null = null;

/** Throws if the file at `path` was replaced: readers would not see writes to the new one. */
function connection(): Connection {
  if (identityOf(path) !== identity) {
    throw Object.assign(new Error(`another file has taken the place of ${path}`), { code: "ESTALE" });
  }
  if (opened === null) {
    const database = connect(path);
    opened = { database, run: statementRunner(database) };
  }
  return opened;
}

/** Commits the writes in one transaction, or one by one if that fails; returns the failed ones. */
function commit(writes: readonly NumberedWrite[]): FromThread["failed"] {
  const allFailed = (error: unknown) => writes.map(({ serial }) => ({ serial, error: plain(error) }));
  let connected: Connection;
  try {
    connected = connection();
    connected.run([begin]);
  } catch (error) {
    return allFailed(error);
  }
  try {
    return commitTogether(connected, writes);
  } catch (error) {
    if (connected.database.isTransaction) connected.database.exec("ROLLBACK");
    return writes.length === 1 ? allFailed(error) : writes.flatMap((each) => commit([each]));
  }
}

const begin: Statement = ["BEGIN IMMEDIATE", []];
const savepoint: Statement = ["SAVEPOINT one", []];
const release: Statement = ["RELEASE one", []];
const rollback: Statement = ["ROLLBACK TO one", []];
const commitAll: Statement = ["COMMIT", []];

/** Throws if the transaction as a whole fails. */
function commitTogether(
  { database, run }: Connection,
  writes: readonly NumberedWrite[],
): FromThread["failed"] {
  const failed: FromThread["failed"][number][] = [];
  for (const { serial, write } of writes) {
    try {
      run(writes.length === 1 ? write : [savepoint, ...write, release]);
    } catch (error) {
      // A single write fails with its transaction; a full disk has rolled back the transaction already.
      if (writes.length === 1 || !database.isTransaction) throw error;
      run([rollback, release]);
      failed.push({ serial, error: plain(error) });
    }
  }
  run([commitAll]);
  return failed;
}

/** Copies the error's fields, which messages between threads drop. */
function plain(error: unknown): FromThread["failed"][number]["error"] {
  const { message = String(error), code, errcode } = Object(error);
  return { message, code, errcode };
}

port.on("message", (first: ToThread) => {
  const writes: NumberedWrite[] = [];
  let next: ToThread | undefined = first;
  let isClosing = false;
  while (next !== undefined) {
    if (next === "close") isClosing = true;
    else writes.push(...next);
    const waiting: { readonly message: ToThread } | undefined =
      isClosing || writes.length >= mostWrites ? undefined : receiveMessageOnPort(port);
    next = waiting?.message;
  }
  const last = writes.at(-1);
  if (last !== undefined)
    port.postMessage({ through: last.serial, failed: commit(writes) } satisfies FromThread);
  if (isClosing) {
    opened?.database.close();
    port.close();
  }
});
