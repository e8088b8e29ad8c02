/** The simulated disk with its store: durable data outlives each process. */
import type { Ref } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import type { Notes, Store } from "#ports.ts";
import { asOlder, isAtRest, refsIn } from "./documents.ts";
import type { Life, Machine } from "./machine.ts";

export class DiskError extends Error {
  override name = "DiskError";
  readonly while: "reading" | "writing";
  constructor(during: DiskError["while"]) {
    super(during === "reading" ? "EIO: the disk can't be read" : "ENOSPC: the disk can't be written");
    this.while = during;
  }
}

/** One document can't be read, by this process. */
export class ThreadUnreadable extends Error {
  override name = "ThreadUnreadable";
}

/** Another thread has the place or run. */
export class RefTaken extends Error {
  override name = "RefTaken";
}

type Change<T> = (thread: Thread | null) => { thread: Thread | null; result: T };

export class Disk {
  threads = new Map<Ref, Thread>();
  readonly refs = new Map<Ref, Ref>();
  readonly notes = new Map<string, string>();
  /** The true time at which each note was first kept. */
  readonly notedAt = new Map<string, number>();
  /** When the first decision to tell an end or BLOCKED of a run that was the record's already was saved; true times. */
  readonly toldAt = new Map<string, number>();
  /** The thread that the running process can't read. */
  unreadable: Ref | null = null;
  /** The threads that could not be read, until a process could read them again; a true time. */
  readonly wasUnreadable: { readonly id: Ref; readonly until: number }[] = [];
  readonly #machine: Machine;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  lead(ref: Ref): Ref {
    return ref.startsWith("thread:") ? ref.slice("thread:".length) : (this.refs.get(ref) ?? ref);
  }

  /** The threads as a process that has just started reads them. */
  reread(): void {
    const { weather, healed, chance, time } = this.#machine;
    if (this.unreadable !== null) this.wasUnreadable.push({ id: this.unreadable, until: time.nowMs });
    const isOlder = !healed && weather.olderRate > 0 && chance.chance(weather.olderRate);
    const read = (thread: Thread): Thread => {
      const copy: Thread = JSON.parse(JSON.stringify(thread));
      return isOlder ? asOlder(copy) : copy;
    };
    this.threads = new Map([...this.threads].map(([id, thread]) => [id, read(thread)]));
    const ids = [...this.threads.keys()];
    const hides = !healed && weather.unreadableRate > 0 && chance.chance(weather.unreadableRate);
    this.unreadable = hides && ids.length > 1 ? chance.pick(ids) : null;
    if (isOlder) this.#machine.note("disk", () => "an earlier version wrote the documents");
    if (this.unreadable !== null) this.#machine.note("disk", () => `${this.unreadable} can't be read`);
  }

  put(thread: Thread): void {
    const records = new Map(this.threads.get(thread.id)?.runs.map((record) => [record.dispatch, record]));
    for (const { dispatch, runId, told } of thread.runs) {
      const before = records.get(dispatch);
      const isTellingBegun = told !== null && before?.told === null && before.runId === runId;
      if (isTellingBegun && runId !== null && !this.toldAt.has(runId))
        this.toldAt.set(runId, this.#machine.time.nowMs);
    }
    this.threads.set(thread.id, thread);
    for (const ref of refsIn(thread)) this.refs.set(ref, thread.id);
  }

  #fails(): boolean {
    const { weather, healed, chance } = this.#machine;
    return !healed && weather.diskFaultRate > 0 && chance.chance(weather.diskFaultRate);
  }

  #isFull(): boolean {
    const { weather, healed } = this.#machine;
    const now = this.#machine.sinceStart();
    return (
      !healed && weather.diskFull !== null && weather.diskFull.fromMs <= now && now < weather.diskFull.toMs
    );
  }

  #assertReadable(key: Ref): void {
    if (this.unreadable === key) throw new ThreadUnreadable(`EACCES: ${key}`);
  }

  /** The store for one process. */
  open(life: Life): Store & Notes {
    const machine = this.#machine;
    const locks = new Map<Ref, Promise<void>>();
    /** Refs that a write under way will make lead to its thread. */
    const claimed = new Map<Ref, Ref>();

    const hold = async (key: Ref): Promise<() => void> => {
      const before = locks.get(key);
      const { promise, resolve } = Promise.withResolvers<void>();
      const last = (before ?? Promise.resolve()).then(() => promise);
      locks.set(key, last);
      await before;
      return () => {
        if (locks.get(key) === last) locks.delete(key);
        resolve();
      };
    };

    const assertFree = (thread: Thread): void => {
      for (const ref of refsIn(thread)) {
        const owner = claimed.get(ref) ?? (this.threads.has(this.lead(ref)) ? this.lead(ref) : thread.id);
        if (owner !== thread.id) throw new RefTaken(`${ref} belongs to ${owner}`);
      }
    };

    const write = async (thread: Thread): Promise<void> => {
      assertFree(thread);
      const refs = refsIn(thread).filter((ref) => !this.refs.has(ref));
      for (const ref of refs) claimed.set(ref, thread.id);
      const fails = this.#fails();
      try {
        await machine.outside(life, machine.chance.between(1, machine.weather.slowestWriteMs), () => {
          if (fails || this.#isFull()) throw new DiskError("writing");
          this.put(thread);
        });
      } finally {
        for (const ref of refs) claimed.delete(ref);
      }
    };

    const change = async <T>(ref: Ref, fn: Change<T>): Promise<T> => {
      for (;;) {
        const key = this.lead(ref);
        const release = await hold(key);
        try {
          if (this.lead(ref) !== key) continue;
          this.#assertReadable(key);
          if (this.#fails()) throw new DiskError("reading");
          const before = this.threads.get(key) ?? null;
          const { thread, result } = fn(before);
          if (thread === null || thread === before) return result;
          await write(thread);
          return result;
        } finally {
          release();
        }
      }
    };

    const { threads, notes } = this;
    const isHidden = (id: Ref): boolean => this.unreadable === id;
    const mayFail = (): void => {
      if (this.#fails() || this.#isFull()) throw new DiskError("writing");
    };
    return {
      change: (ref, fn) => (life.dead ? new Promise(() => {}) : change(ref, fn)),
      find: async (ref) => {
        this.#assertReadable(this.lead(ref));
        return this.threads.get(this.lead(ref)) ?? null;
      },
      note: (name) => machine.outside(life, 1, () => notes.get(name) ?? null),
      keepNote: (name, text) =>
        machine.outside(life, machine.chance.between(1, machine.weather.slowestWriteMs), () => {
          mayFail();
          notes.set(name, text);
          if (!this.notedAt.has(name)) this.notedAt.set(name, machine.time.nowMs);
        }),
      async *unsettled() {
        for (const thread of [...threads.values()]) {
          await machine.outside(life, machine.chance.between(0, 5), () => {});
          const now = threads.get(thread.id) ?? thread;
          if (!isAtRest(now) && !isHidden(thread.id)) yield now;
        }
      },
    };
  }
}
