import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "#base/log.ts";
import { DiskSync } from "./disk-sync.ts";
import { Documents } from "./documents.ts";
import { storeError } from "./errors.ts";
import { Folder } from "./folder.ts";
import { lockFolder } from "./folder-lock.ts";
import { KeyedLock } from "./keyed-lock.ts";
import { LocalStore } from "./local-store.ts";
import { Refs } from "./refs.ts";
import { Retention } from "./retention.ts";
import { Scratch } from "./scratch.ts";

const dayMs = 24 * 60 * 60 * 1000;

export interface OpenStoreOptions {
  /** Made if it isn't there; one process at a time has it. */
  readonly dataDir: string;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** For how long settled threads are kept. */
  readonly retentionMs?: number;
}

/**
 * Opens the local store. In the data folder, `threads/` has a lowdb document for each thread, `index/` leads
 * from places and runs to them, `unsettled/` marks those with work left, `notes/` has what is
 * remembered besides, `broken/` the documents that were set aside, `tmp/` what is being written. Takes no longer with more threads.
 * Rejects with `StoreLocked` if another process has the folder, and with `StoreError`.
 */
export async function openStore(options: OpenStoreOptions): Promise<LocalStore> {
  const { dataDir, log, now, retentionMs = 90 * dayMs } = options;
  const tmp = join(dataDir, "tmp");
  try {
    mkdirSync(tmp, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw storeError(`open the data folder ${dataDir}`, cause);
  }
  const unlock = lockFolder(dataDir);
  const opened: Folder[] = [];
  try {
    const disk = new DiskSync();
    const prefix = randomUUID();
    const open = async (name: string): Promise<Folder> => {
      const folder = new Folder(join(dataDir, name), new Scratch(tmp, `${prefix}-${name}`), disk);
      opened.push(folder);
      // A killed process may have acted on names that only the page cache knew.
      await folder.sync();
      return folder;
    };
    const cleaning = removeLeftovers(tmp, log);
    const documents = new Documents(await open("threads"), join(dataDir, "broken"), log);
    const refs = new Refs(await open("index"), documents);
    const marks = await open("unsettled");
    const notes = await open("notes");
    const locks = new KeyedLock();
    const retention = new Retention({ documents, refs, locks, retentionMs, now });
    const release = async (): Promise<void> => {
      try {
        await cleaning;
        await retention.close();
        for (const folder of opened) await folder.close();
      } finally {
        unlock();
      }
    };
    return new LocalStore({ documents, refs, marks, notes, locks, retention, log, release });
  } catch (cause) {
    for (const folder of opened) await folder.close();
    unlock();
    throw cause;
  }
}

/** As `Scratch` names its files: `<uuid>-<folder>-<count>`. */
const leftover = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-[a-z]+-\d+$/;

/**
 * Nobody waits for it: temporary files of an earlier process have names of their own, and are never read. What
 * else is there is somebody else's: people do choose a folder that has a `tmp` already.
 */
async function removeLeftovers(tmp: string, log: Log): Promise<void> {
  try {
    for (const name of readdirSync(tmp)) {
      if (leftover.test(name)) await rm(join(tmp, name), { force: true });
    }
  } catch (cause) {
    log.warn("temporary files of an earlier process could not be removed", { folder: tmp, err: cause });
  }
}
