import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { createKeyedQueue } from "#base/keyed-queue.ts";
import type { Log } from "#base/log.ts";
import { BrokenDocument } from "#disk/durable-file.ts";
import type { Run, RunDocument } from "#service/run/run-document.ts";
import type { ListFilter } from "#service/wire/list-query.ts";
import type { Result } from "#service/wire/problem.ts";
import { createRecentRuns } from "./recent-runs.ts";
import { describing, openToRead } from "./run-database.ts";
import { importRuns } from "./run-import.ts";
import { createRunList, type ListBounds, type Page } from "./run-list.ts";
import { createRunReader, type RunReader, type Unfinished } from "./run-reader.ts";
import { writeOf } from "./run-rows.ts";
import { createRunWriter, startWriterThread } from "./run-writer.ts";
import type { RunAnswer } from "./stored-answer.ts";

/** The runs, in a database on disk (run-database.ts). What is not durable is not seen. */
export interface RunStore {
  /** Opens the database, and imports what an earlier version left. Rejects with `UnusableRuns`. */
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
  /** null if there is no such run, or it can't be read. Of one asked for often, the same object till it changes. */
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
  const writer = createRunWriter(() => startWriterThread(path), log);
  const broken = new Set<string>();
  let opened: Opened | null = null;
  const recent = createRecentRuns(mostRecentBytes, bytesOfRun);
  const answers = createRecentRuns<Answer>(mostRecentBytes, bytesOfAnswer, (answer) => Buffer.from(answer));

  function open(): Opened {
    if (opened === null) throw new Error("the runs are not open");
    return opened;
  }

  async function write(before: RunDocument | null, after: RunDocument): Promise<void> {
    await writer.write(writeOf(before, after)).finally(() => {
      recent.forget(after.run.id);
      answers.forget(after.run.id);
    });
    const { counts } = open();
    if (before !== null) counts.set(before.run.state, (counts.get(before.run.state) ?? 0) - 1);
    counts.set(after.run.state, (counts.get(after.run.state) ?? 0) + 1);
  }

  /** A run that can't be read stops nothing else. */
  function setAside(id: string, error: unknown): void {
    if (broken.has(id)) return;
    broken.add(id);
    log.error("a run can't be read and is set aside", { runId: id, error });
    writer.write({ kind: "set aside", id, reason: String(error) }).catch((failure: unknown) => {
      log.error("the run could not be set aside", { runId: id, error: failure });
    });
  }

  return {
    async load() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const database = await openToRead(path);
      try {
        await importRuns(join(folder, "runs"), (document) => writer.write(writeOf(null, document)), log);
        opened = describing(path, () => {
          const reader = createRunReader(database, setAside);
          return {
            database,
            reader,
            list: createRunList(database, reader.at, bounds),
            counts: reader.counts(),
          };
        });
      } catch (error) {
        database.close();
        await writer.close();
        throw error;
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
    get: (id) => (broken.has(id) ? null : recent.get(id, open().reader.get)),
    answer(id, linkOf) {
      if (broken.has(id)) return null;
      return answers.get(id, (each) => {
        const found = open().reader.answer(each);
        return found === null ? null : found.withLink(linkOf(found));
      });
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
      opened?.database.close();
      opened = null;
      // The last to close it tidies the database up.
      await writer.close();
    },
  };
}

/** In UTF-8 where it was asked for often. */
type Answer = string | Uint8Array<ArrayBuffer>;

interface Opened {
  readonly database: DatabaseSync;
  readonly reader: RunReader;
  readonly list: ReturnType<typeof createRunList>;
  /** How many runs are in each state. */
  readonly counts: Map<Run["state"], number>;
}

const mostRecentBytes = 6_000_000;

/** A letter takes up to two bytes, and what else belongs to a run is about as long as a short prompt. */
const bytesOfRun = (run: Run): number => 2 * run.prompt.length + 2_000;
const bytesOfAnswer = (answer: Answer): number => answer.length + 500;

const unfinishedStates = ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS"] as const;
