/** The simulated disk with its store: durable data outlives each process. */
import type { Ref } from "#core/place.ts";
import { isSettled, refsOf, type Thread } from "#core/thread.ts";
import type { Store } from "#ports.ts";
import type { Life, Machine } from "./machine.ts";

export class DiskError extends Error {
  override name = "DiskError";
  readonly while: "reading" | "writing";
  constructor(during: DiskError["while"]) {
    super(during === "reading" ? "EIO: the disk can't be read" : "ENOSPC: the disk can't be written");
    this.while = during;
  }
}

/** Another thread has the place or run. */
export class RefTaken extends Error {
  override name = "RefTaken";
}

type Change<T> = (thread: Thread | null) => { thread: Thread | null; result: T };

export class Disk {
  threads = new Map<Ref, Thread>();
  readonly refs = new Map<Ref, Ref>();
  readonly #machine: Machine;

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  lead(ref: Ref): Ref {
    return ref.startsWith("thread:") ? ref.slice("thread:".length) : (this.refs.get(ref) ?? ref);
  }

  /** The thread as a process that has just started reads it. */
  reread(): void {
    this.threads = new Map([...this.threads].map(([id, thread]) => [id, JSON.parse(JSON.stringify(thread))]));
  }

  put(thread: Thread): void {
    this.threads.set(thread.id, thread);
    for (const ref of refsOf(thread)) this.refs.set(ref, thread.id);
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

  /** The store for one process. */
  open(life: Life): Store {
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
      for (const ref of refsOf(thread)) {
        const owner = claimed.get(ref) ?? (this.threads.has(this.lead(ref)) ? this.lead(ref) : thread.id);
        if (owner !== thread.id) throw new RefTaken(`${ref} belongs to ${owner}`);
      }
    };

    const write = async (thread: Thread): Promise<void> => {
      assertFree(thread);
      const refs = refsOf(thread).filter((ref) => !this.refs.has(ref));
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

    const { threads } = this;
    return {
      change: (ref, fn) => (life.dead ? new Promise(() => {}) : change(ref, fn)),
      find: async (ref) => this.threads.get(this.lead(ref)) ?? null,
      async *unsettled() {
        for (const thread of [...threads.values()]) {
          await machine.outside(life, machine.chance.between(0, 5), () => {});
          const now = threads.get(thread.id) ?? thread;
          if (!isSettled(now)) yield now;
        }
      },
    };
  }
}
