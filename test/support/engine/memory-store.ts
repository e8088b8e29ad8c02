import type { Ref } from "#core/place.ts";
import { isSettled, refsOf, type Thread } from "#core/thread.ts";
import type { Store } from "#ports.ts";

export interface MemoryStore extends Store {
  /** While not null, every change rejects with it. */
  broken: Error | null;
  /** Number of changes, and of those that wrote. */
  changes: number;
  writes: number;
  get(ref: Ref): Thread;
  put(thread: Thread): void;
  size(): number;
}

/** A store in memory that returns copies, like one that reads files. */
export function createMemoryStore(): MemoryStore {
  const threads = new Map<Ref, Thread>();
  const refs = new Map<Ref, Ref>();
  /** Changes run one after another. */
  let last: Promise<unknown> = Promise.resolve();

  function put(thread: Thread): void {
    threads.set(thread.id, structuredClone(thread));
    for (const ref of refsOf(thread)) refs.set(ref, thread.id);
  }
  function read(ref: Ref): Thread | null {
    const id = ref.startsWith("thread:") ? ref.slice("thread:".length) : (refs.get(ref) ?? ref);
    const thread = threads.get(id);
    return thread === undefined ? null : structuredClone(thread);
  }

  return {
    broken: null,
    changes: 0,
    writes: 0,
    change(ref, fn) {
      this.changes += 1;
      const change = last.then(async () => {
        const before = read(ref);
        const { thread, result } = fn(before);
        await Promise.resolve();
        if (this.broken !== null) throw this.broken;
        if (thread !== null && thread !== before) {
          this.writes += 1;
          put(thread);
        }
        return result;
      });
      last = change.catch(() => {});
      return change;
    },
    find: async (ref) => read(ref),
    async *unsettled() {
      for (const thread of [...threads.values()]) if (!isSettled(thread)) yield structuredClone(thread);
    },
    get(ref) {
      const thread = read(ref);
      if (thread === null) throw new Error(`there is no thread under ${ref}`);
      return thread;
    },
    put,
    size: () => threads.size,
  };
}
