import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { LRUCache } from "lru-cache";
import { createKeyedQueue } from "#base/keyed-queue.ts";
import type { Log } from "#base/log.ts";
import { createDatabaseWriter, type DatabaseWriter, writerThreads } from "#disk/database-writer.ts";
import { BrokenDocument } from "#disk/durable-file.ts";
import type { Run, RunDocument } from "#service/run/run-document.ts";
import type { ListFilter } from "#service/wire/list-query.ts";
import type { Result } from "#service/wire/problem.ts";
import { openRuns, unusable } from "./run-database.ts";
import { importRuns } from "./run-import.ts";
import { createRunList, type ListBounds, type Page } from "./run-list.ts";
import { createRunReader, type RunReader } from "./run-reader.ts";
import { putRunRows, setRunAside } from "./run-rows.ts";

interface Opened {
  readonly database: DatabaseSync;
  readonly writer: DatabaseWriter;
  readonly reader: RunReader;
  readonly list: (filter: ListFilter) => Promise<Result<Page>>;
}

/** Clients poll the runs that they wait for. `get` takes 0.001 ms from memory and 0.03 ms from the database. */
const cacheBytes = 6_000_000;

/** UTF-16 takes up to two bytes a unit; 2,000 covers the other fields of most runs. */
const bytesOfRun = (run: Run): number => 2 * run.prompt.length + 2_000;

/** The runs, in a database on disk (run-database.ts). Readers see durable changes only. */
export type RunStore = ReturnType<typeof createRunStore>;

/** `folder` holds the database. `now` in milliseconds since the epoch. */
export function createRunStore(folder: string, now: () => number, log: Log, bounds?: ListBounds) {
  const path = join(folder, "runs.db");
  const queue = createKeyedQueue();
  const broken = new Set<string>();
  let opened: Opened | null = null;
  const recent = new LRUCache<string, Run>({ maxSize: cacheBytes, sizeCalculation: bytesOfRun });

  function open(): Opened {
    if (opened === null) throw new Error("the runs are not open");
    return opened;
  }

  async function write(before: RunDocument | null, after: RunDocument): Promise<void> {
    const written = open().writer.write(putRunRows(before, after));
    await written.finally(() => recent.delete(after.run.id));
  }

  /** Takes a damaged run out of the queue and all lists, so that the others go on. */
  function setAside(id: string, error: unknown): void {
    if (broken.has(id)) return;
    broken.add(id);
    recent.delete(id);
    log.error("a run can't be read and is set aside", { runId: id, error });
    open()
      .writer.write(setRunAside(id, String(error)))
      .catch((failure: unknown) => {
        log.error("the run could not be set aside", { runId: id, error: failure });
      });
  }

  return {
    /**
     * Opens the database and imports the runs of an earlier version. Rejects with `UnusableRuns`, `NewerDatabase`
     * or the system's error.
     */
    async load(): Promise<void> {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const database = await openRuns(path);
      const writer = createDatabaseWriter(writerThreads(path), log);
      try {
        await importRuns(join(folder, "runs"), (document) => writer.write(putRunRows(null, document)), log);
        const reader = createRunReader(database, setAside);
        opened = { database, writer, reader, list: createRunList(database, reader.at, bounds) };
      } catch (error) {
        database.close();
        await writer.close();
        throw unusable(path, error);
      }
    },
    /** Resolves when the new run is durable. */
    add: (document: RunDocument): Promise<void> => queue.run(document.run.id, () => write(null, document)),
    /**
     * Applies `fn` to the run's document while no other change of the run is made. Resolves with its `result` when
     * the new document is durable; the same document is not written. null: there is no such run. Rejects, with
     * nothing changed, if the document can't be read or written. `fn` must not change `prompt` or `metadata`.
     */
    async change<T>(
      id: string,
      fn: (document: RunDocument) => { readonly document: RunDocument; readonly result: T },
    ): Promise<{ readonly result: T } | null> {
      if (broken.has(id) || !open().reader.has(id)) return null;
      return queue.run(id, async () => {
        const before = open().reader.document(id);
        if (before === null) throw new BrokenDocument(`run ${id} has been set aside`);
        const { document, result } = fn(before);
        if (document !== before) {
          // Strictly later, so that a client that polls with `updated_after` misses no change.
          const updatedAt = Math.max(now(), before.run.updatedAt + 1);
          await write(before, { ...document, run: { ...document.run, updatedAt } });
        }
        return { result };
      });
    },
    /** The whole document; null if there is no such run. Rejects with `BrokenDocument` if it can't be read. */
    read: async (id: string): Promise<RunDocument | null> =>
      broken.has(id) ? null : open().reader.document(id),
    /** null if there is no such run or it can't be read. */
    get(id: string): Run | null {
      const { reader } = open();
      const known = recent.get(id);
      if (known !== undefined || broken.has(id)) return known ?? null;
      const run = reader.get(id);
      if (run !== null) recent.set(id, run);
      return run;
    },
    /** One page of the matching runs; a refusal if the cursor is invalid. */
    list: (filter: ListFilter): Promise<Result<Page>> => open().list(filter),
    /** The runs that are queued or worked on, in the order of the queue. */
    unfinished: () => open().reader.unfinished(),
    /** Their number; 0 while the database is closed. */
    unfinishedCount: (): number => opened?.reader.unfinishedCount() ?? 0,
    /** The first queued run that is not in `except`; null if there is none. */
    nextQueued: (except: ReadonlySet<string>): string | null =>
      open().reader.nextQueued(new Set([...except, ...broken])),
    /** The last run of the conversation; null if there is no such conversation. */
    latestOf: (conversationId: string): string | null => open().reader.latestOf(conversationId),
    /** The run that made the artifact with this uid; null if there is none. */
    withArtifact: (uid: string): string | null => open().reader.withArtifact(uid),
    /** The highest place of any run in the order of creation or in the queue; 0 if there is no run. */
    highestPlace: (): number => open().reader.highestPlace(),
    /** Waits for every requested change and closes the database. */
    async close(): Promise<void> {
      await queue.idle();
      const closing = opened;
      opened = null;
      closing?.database.close();
      // The last connection to be closed merges the log into the database.
      await closing?.writer.close();
    },
  };
}
