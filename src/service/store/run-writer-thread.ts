/**
 * The thread that writes the runs: what waits while the disk is busy is one transaction, and so one fsync.
 * Its only datum is the path of the database.
 */
import type { DatabaseSync } from "node:sqlite";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { connect } from "./run-database.ts";
import { createRunTables, type RunTables } from "./run-tables.ts";
import type { FromThread, Numbered, ToThread } from "./run-writer.ts";

const port = parentPort;
if (port === null) throw new Error("this is the program of a thread");

/** So many at most become one transaction. */
const mostWrites = 1_000;

let opened: { readonly database: DatabaseSync; readonly tables: RunTables } | null = null;

function openTables(): RunTables {
  if (opened === null) {
    const database = connect(String(workerData));
    opened = { database, tables: createRunTables(database) };
  }
  return opened.tables;
}

/** Writes all of them, or each that can be if not all can. */
function write(writes: readonly Numbered[]): FromThread {
  const through = writes.at(-1)?.serial ?? 0;
  const allFailed = (error: unknown): FromThread => ({
    through,
    failed: writes.map(({ serial }) => ({ serial, error })),
  });
  let tables: RunTables;
  try {
    tables = openTables();
    tables.begin();
  } catch (error) {
    return allFailed(error);
  }
  try {
    tables.commit(writes.map((each) => each.write));
    return { through, failed: [] };
  } catch (error) {
    if (writes.length === 1) return allFailed(error);
    return { through, failed: writes.flatMap((each) => write([each]).failed) };
  }
}

port.on("message", (message: ToThread) => {
  if (message.kind === "close") {
    opened?.database.close();
    port.close();
    return;
  }
  const writes = [...message.writes];
  let close = false;
  while (writes.length < mostWrites && !close) {
    const next: { readonly message: ToThread } | undefined = receiveMessageOnPort(port);
    if (next === undefined) break;
    if (next.message.kind === "write") writes.push(...next.message.writes);
    else close = true;
  }
  port.postMessage(write(writes));
  if (close) {
    opened?.database.close();
    port.close();
  }
});
