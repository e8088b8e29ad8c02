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
import { createRunReader, type RunReader, type Unfinished } from "./run-reader.ts";
import { putRunRows, setRunAside } from "./run-rows.ts";
import type { RunAnswer } from "./stored-answer.ts";

/** The runs, in a database on disk (run-database.ts). What is not durable is not seen. */
export interface RunStore {
  /** Opens the database, and imports what an earlier version left. Rejects with `UnusableRuns` or `NewerDatabase`. */
  load(): Promise<void>;
  /** Resolves when the new run is durable; only then the others see it. */
  add(document: RunDocument): Promise<void>;
  /**
   * Applies `fn` to the run's document, alone, and resolves with its `result` when the new document is
   * durable; the same document writes nothing. null: there is no such run. Rejects if it could not be
   * read or written; then nothing has changed. `fn` leaves `prompt` and `metadata` as they are.
   */
  change<T>(
    id: string,
    fn: (document: RunDocument) => { readonly document: RunDocument; readonly result: T },
  ): Promise<{ readonly result: T } | null>;
  /** The whole document; null if there is no such run. Rejects if it can't be read. */
  read(id: string): Promise<RunDocument | null>;
  /** null if there is no such run, or it can't be read. */
  get(id: string): Run | null;
  /** `RunItem` of the run as JSON, with the link that `linkOf` makes; null as with `get`. */
  answer(id: string, linkOf: (run: RunAnswer) => string): Answer | null;
  /** One page of the runs that match. */
  list(filter: ListFilter): Promise<Result<Page>>;
  /** The runs that are queued or worked on, in the order of the queue. */
  unfinished(): readonly Unfinished[];
  /** How many those are. */
  unfinishedCount(): number;
  /** The first in the queue that is not one of these; null if there is none. */
  nextQueued(except: ReadonlySet<string>): string | null;
  /** The run that went on with the conversation last; null if there is no such conversation. */
  latestOf(conversationId: string): string | null;
  /** The highest place that any run has in the order of creation or in the queue; 0 if there is none. */
  highestPlace(): number;
  /** Resolves when every change that was asked for is through. */
  quiet(): Promise<void>;
  /** Resolves when that is so and the database is closed; from then on there are no runs. */
  close(): Promise<void>;
}

/** `folder`: where the database is. `now` in milliseconds since the epoch. */
export function createRunStore(folder: string, now: () => number, log: Log, bounds?: ListBounds): RunStore {
  const path = join(folder, "runs.db");
  const queue = createKeyedQueue();
  const broken = new Set<string>();
  let opened: Opened | null = null;
  const recent = new LRUCache<string, Run>({ maxSize: cacheBytes, sizeCalculation: bytesOfRun });
  const answers = new LRUCache<string, Answer>({
    maxSize: cacheBytes,
    sizeCalculation: ({ length }) => length,
  });

  function open(): Opened {
    if (opened === null) throw new Error("the runs are not open");
    return opened;
  }

  async function write(before: RunDocument | null, after: RunDocument): Promise<void> {
    await open()
      .writer.write(putRunRows(before, after))
      .finally(() => {
        recent.delete(after.run.id);
        answers.delete(after.run.id);
      });
    const { counts } = open();
    if (before !== null) counts.set(before.run.state, (counts.get(before.run.state) ?? 0) - 1);
    counts.set(after.run.state, (counts.get(after.run.state) ?? 0) + 1);
  }

  /** A run that can't be read stops nothing else. */
  function setAside(id: string, error: unknown): void {
    if (broken.has(id)) return;
    broken.add(id);
    recent.delete(id);
    answers.delete(id);
    log.error("a run can't be read and is set aside", { runId: id, error });
    open()
      .writer.write(setRunAside(id, String(error)))
      .catch((failure: unknown) => {
        log.error("the run could not be set aside", { runId: id, error: failure });
      });
  }

  return {
    async load() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const database = await openRuns(path);
      const writer = createDatabaseWriter(writerThreads(path), log);
      try {
        await importRuns(join(folder, "runs"), (document) => writer.write(putRunRows(null, document)), log);
        const reader = createRunReader(database, setAside);
        const list = createRunList(database, reader.at, bounds);
        opened = { database, writer, reader, list, counts: reader.counts() };
      } catch (error) {
        database.close();
        await writer.close();
        throw unusable(path, error);
      }
    },
    add: (document) => queue.run(document.run.id, () => write(null, document)),
    async change(id, fn) {
      if (broken.has(id) || !open().reader.has(id)) return null;
      return queue.run(id, async () => {
        const before = open().reader.document(id);
        if (before === null) throw new BrokenDocument(`run ${id} has been set aside`);
        const { document, result } = fn(before);
        if (document !== before) {
          // Strictly later, so that whoever asks for what changed since then misses nothing.
          const updatedAt = Math.max(now(), before.run.updatedAt + 1);
          await write(before, { ...document, run: { ...document.run, updatedAt } });
        }
        return { result };
      });
    },
    read: async (id) => (broken.has(id) ? null : open().reader.document(id)),
    get(id) {
      const { reader } = open();
      const known = recent.get(id);
      if (known !== undefined || broken.has(id)) return known ?? null;
      const run = reader.get(id);
      if (run !== null) recent.set(id, run);
      return run;
    },
    answer(id, linkOf) {
      const { reader } = open();
      const known = answers.get(id);
      if (known !== undefined || broken.has(id)) return known ?? null;
      const found = reader.answer(id);
      if (found === null) return null;
      const answer = Buffer.from(found.withLink(linkOf(found)));
      answers.set(id, answer);
      return answer;
    },
    list: (filter) => open().list(filter),
    unfinished: () => open().reader.inStates(unfinishedStates),
    unfinishedCount() {
      const counts = opened?.counts;
      return unfinishedStates.reduce((sum, state) => sum + (counts?.get(state) ?? 0), 0);
    },
    // One that is being set aside would stand first in the queue for ever.
    nextQueued: (except) => open().reader.nextQueued(new Set([...except, ...broken])),
    latestOf: (conversationId) => open().reader.latestOf(conversationId),
    highestPlace: () => open().reader.highestPlace(),
    quiet: () => queue.idle(),
    async close() {
      await queue.idle();
      const closing = opened;
      opened = null;
      closing?.database.close();
      // The last connection to be closed merges the log into the database.
      await closing?.writer.close();
    },
  };
}

/** `RunItem` as JSON in UTF-8. */
type Answer = Uint8Array<ArrayBuffer>;

interface Opened {
  readonly database: DatabaseSync;
  readonly writer: DatabaseWriter;
  readonly reader: RunReader;
  readonly list: ReturnType<typeof createRunList>;
  /** How many runs are in each state. */
  readonly counts: Map<Run["state"], number>;
}

/**
 * Clients that wait for a run ask for it again and again: from memory this takes 0.001 ms, from the database 0.03.
 */
const cacheBytes = 6_000_000;

/** A letter takes up to two bytes, and what else belongs to a run is about as long as a short prompt. */
const bytesOfRun = (run: Run): number => 2 * run.prompt.length + 2_000;

const unfinishedStates = ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS"] as const;
