import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Low } from "lowdb";
import PQueue from "p-queue";
import { BrokenDocument, durableFile, unfinishedEnding } from "./durable-file.ts";
import type { ListFilter } from "./list-query.ts";
import { listRuns, type Page } from "./listing.ts";
import type { ServiceLog } from "./log.ts";
import type { Result } from "./problem.ts";
import { parseRunDocument, type Run, type RunDocument } from "./run-document.ts";

/** The runs on disk, one document each, and in memory what listing needs of them. */
export interface RunStore {
  /** Reads what is on disk. What can't be read is set aside (`*.broken`) and logged. */
  load(): Promise<void>;
  /** Resolves when the new run is durable; only then the others see it. */
  add(document: RunDocument): Promise<void>;
  /**
   * Applies `fn` to the run's document, alone, and resolves with its `result` when the new document is
   * durable; the same document writes nothing. null: there is no such run. Rejects if it could not be
   * read or written; then nothing has changed.
   */
  change<T>(
    id: string,
    fn: (document: RunDocument) => { readonly document: RunDocument; readonly result: T },
  ): Promise<{ readonly result: T } | null>;
  /** The whole document; null if there is no such run. Rejects if it can't be read. */
  read(id: string): Promise<RunDocument | null>;
  get(id: string): Run | null;
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
}

export interface Unfinished {
  readonly id: string;
  readonly state: Run["state"];
}

/** `now` in milliseconds since the epoch. */
export function createRunStore(folder: string, now: () => number, log: ServiceLog): RunStore {
  const runs = new Map<string, Run>();
  const lines = new Map<string, Promise<unknown>>();
  const file = (id: string): Low<RunDocument | null> =>
    new Low(durableFile(join(folder, `${id}.json`), parse(id)), null);

  /** One after the other for one run. */
  function inLine<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = lines.get(id) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine.then(
      () => undefined,
      () => undefined,
    );
    lines.set(id, settled);
    void settled.then(() => {
      if (lines.get(id) === settled) lines.delete(id);
    });
    return mine;
  }

  async function write(document: RunDocument): Promise<void> {
    const db = file(document.run.id);
    db.data = document;
    await db.write();
    runs.set(document.run.id, document.run);
  }

  async function existing(id: string): Promise<RunDocument> {
    const db = file(id);
    await db.read();
    if (db.data === null) throw new Error(`the document of run ${id} is not on the disk`);
    return db.data;
  }

  async function loadOne(name: string): Promise<void> {
    const path = join(folder, name);
    if (name.endsWith(unfinishedEnding)) return rm(path, { force: true });
    if (!name.endsWith(".json")) return;
    try {
      const document = await existing(name.slice(0, -".json".length));
      runs.set(document.run.id, document.run);
    } catch (error) {
      if (!(error instanceof BrokenDocument)) {
        // The disk failed, not the document: it may well be read next time.
        log.error("a run's document could not be read", { file: name, error });
        return;
      }
      log.error("a run's document can't be read and is set aside", { file: `${name}.broken`, error });
      await rename(path, `${path}.broken`).catch((failure: unknown) => {
        log.error("the document could not be set aside", { file: name, error: failure });
      });
    }
  }

  return {
    async load() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const reading = new PQueue({ concurrency: 16 });
      await reading.addAll((await readdir(folder)).map((name) => () => loadOne(name)));
    },
    add: (document) => inLine(document.run.id, () => write(document)),
    async change(id, fn) {
      if (!runs.has(id)) return null;
      return inLine(id, async () => {
        const before = await existing(id);
        const { document, result } = fn(before);
        if (document !== before) {
          // Strictly later, so that whoever asks for what changed since then misses nothing.
          const updatedAt = Math.max(now(), before.run.updatedAt + 1);
          await write({ ...document, run: { ...document.run, updatedAt } });
        }
        return { result };
      });
    },
    read: async (id) => (runs.has(id) ? existing(id) : null),
    get: (id) => runs.get(id) ?? null,
    list: async (filter) => listRuns(runs.values(), filter),
    unfinished: () => [...runs.values()].filter(isUnfinished).sort((a, b) => a.queued - b.queued),
    unfinishedCount: () => [...runs.values()].filter(isUnfinished).length,
    nextQueued(except) {
      const queued = [...runs.values()].filter(({ id, state }) => state === "QUEUED" && !except.has(id));
      return queued.sort((a, b) => a.queued - b.queued)[0]?.id ?? null;
    },
    latestOf(conversationId) {
      const of = [...runs.values()].filter((run) => run.conversationId === conversationId);
      return of.sort((a, b) => b.order - a.order)[0]?.id ?? null;
    },
    highestPlace: () => [...runs.values()].reduce((most, run) => Math.max(most, run.order, run.queued), 0),
    async quiet() {
      while (lines.size > 0) await Promise.all(lines.values());
    },
  };
}

const isUnfinished = ({ state }: Run): boolean => working.has(state);
const working: ReadonlySet<string> = new Set(["QUEUED", "PENDING", "CLAIMED", "INPROGRESS"]);

const parse =
  (id: string) =>
  (value: unknown): RunDocument => {
    const document = parseRunDocument(value);
    if (document.run.id !== id) throw new Error("it is the document of another run");
    return document;
  };
