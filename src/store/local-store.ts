import type { Log } from "#base/log.ts";
import type { Ref } from "#core/place.ts";
import { threadRef } from "#core/place.ts";
import { isSettled, refsOf, type Thread } from "#core/thread.ts";
import type { Notes, Store } from "#ports.ts";
import { type Documents, keyOf } from "./documents.ts";
import { RefTaken, StoreError, ThreadUnreadable } from "./errors.ts";
import type { Folder } from "./folder.ts";
import type { Held, KeyedLock } from "./keyed-lock.ts";
import type { Refs } from "./refs.ts";
import type { Retention, Swept } from "./retention.ts";

export interface LocalStoreParts {
  readonly documents: Documents;
  readonly refs: Refs;
  /** Files named by the keys of the threads that may be unsettled. */
  readonly marks: Folder;
  /** Files of what is remembered besides the threads. */
  readonly notes: Folder;
  readonly locks: KeyedLock;
  readonly retention: Retention;
  readonly log: Log;
  /** Called once, when nothing is under way any more. */
  readonly release: () => Promise<void>;
}

/** Threads in files of one folder. `openStore` builds it. */
export class LocalStore implements Store, Notes {
  readonly #parts: LocalStoreParts;
  #underWay = 0;
  #closed: Promise<void> | undefined;
  #whenIdle: (() => void) | undefined;

  constructor(parts: LocalStoreParts) {
    this.#parts = parts;
  }

  /**
   * As the port has it; `fn` must be pure, for it is called again if another change came in between.
   * Rejects with `StoreError`, of which `ThreadUnreadable` (there is a thread, set aside) and `RefTaken` (`fn`
   * claimed another thread's place or run) are kinds, with `TypeError` if `fn` gave the thread another id or
   * made one that `ref` doesn't lead to, and with what `fn` throws.
   */
  change<T>(ref: Ref, fn: (thread: Thread | null) => { thread: Thread | null; result: T }): Promise<T> {
    return this.#whileOpen(async () => {
      let claims: readonly string[] = [];
      for (;;) {
        const key = await this.#parts.refs.lead(ref);
        const held = await this.#parts.locks.hold([key, ...claims]);
        try {
          // Begun, or removed, while we waited.
          if ((await this.#parts.refs.lead(ref)) !== key) continue;
          const before = await this.#parts.documents.load(key);
          const { thread: after, result } = fn(before);
          if (after === null || after === before) return result;
          claims = claimsOf(ref, before, after).map(keyOf);
          if (!takeAll(held, claims)) continue;
          await this.#save(before, after);
          return result;
        } finally {
          held.release();
        }
      }
    });
  }

  /** Waits for a change of the thread that is under way. Rejects with `StoreError`. */
  find(ref: Ref): Promise<Thread | null> {
    return this.change(ref, (thread) => ({ thread, result: thread }));
  }

  /**
   * As the port has it, reading nothing but unsettled threads. One that can't be read is reported and left
   * out; a failure of the disk is thrown at the end, after all others.
   */
  async *unsettled(): AsyncGenerator<Thread, void, undefined> {
    let failure: unknown;
    for await (const key of this.#parts.marks.names()) {
      try {
        const thread = await this.#whileOpen(() => this.#marked(key));
        if (thread !== null) yield thread;
      } catch (cause) {
        if (this.#closed !== undefined) throw cause;
        if (!(cause instanceof ThreadUnreadable)) failure ??= cause;
        this.#parts.log.error("an unsettled thread can't be read", { key, err: cause });
      }
    }
    if (failure !== undefined) throw failure;
  }

  note(name: string): Promise<string | null> {
    return this.#whileOpen(async () => this.#parts.notes.read(name));
  }

  keepNote(name: string, text: string): Promise<void> {
    return this.#whileOpen(() => this.#parts.notes.put(name, text));
  }

  /** Resolves if a file can be written now; rejects with `StoreError`, a sentence. */
  writable(): Promise<void> {
    return this.#whileOpen(() => this.#parts.documents.folder.probe());
  }

  /**
   * Removes settled threads that are older than the retention: looks at some hundred files and goes on from
   * there at the next call. `done`: the last file was reached, and the next call begins again.
   */
  sweep(): Promise<Swept> {
    return this.#whileOpen(() => this.#parts.retention.sweep());
  }

  /** Refuses what comes from now on, waits for what is under way, and gives the folder free. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (this.#underWay > 0) await new Promise<void>((idle) => (this.#whenIdle = idle));
    await this.#parts.release();
  }

  async #whileOpen<T>(job: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) throw new StoreError("The store is closed.");
    this.#underWay += 1;
    try {
      return await job();
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#whenIdle?.();
    }
  }

  /** The order matters: at any instant the disk has a mark and an index entry for whatever a thread says. */
  async #save(before: Thread | null, after: Thread): Promise<void> {
    const { documents, refs, marks } = this.#parts;
    const key = keyOf(after.id);
    const unsettled = !isSettled(after);
    const unmarked = before === null || isSettled(before);
    const added = newRefs(before, after);
    for (const ref of before === null ? [after.id, ...added] : added) await this.#assertFree(ref);
    const first = added.map((ref) => refs.write(ref, after.id));
    if (unsettled && unmarked) first.push(marks.put(key, ""));
    for (const written of await Promise.allSettled(first)) {
      if (written.status === "rejected") throw written.reason;
    }
    await documents.save(key, after);
    if (!unsettled && !unmarked) this.#unmark(key);
  }

  async #assertFree(ref: Ref): Promise<void> {
    const { documents, refs } = this.#parts;
    if ((await documents.load(await refs.lead(ref))) === null) return;
    throw new RefTaken(`${ref} belongs to another thread already.`);
  }

  async #marked(key: string): Promise<Thread | null> {
    const held = await this.#parts.locks.hold([key]);
    try {
      const thread = await this.#parts.documents.load(key);
      if (thread !== null && !isSettled(thread)) return thread;
      this.#unmark(key);
      return null;
    } finally {
      held.release();
    }
  }

  /** A mark too many costs one read at the next start. */
  #unmark(key: string): void {
    try {
      this.#parts.marks.remove(key);
    } catch (cause) {
      this.#parts.log.warn("a settled thread keeps its mark", { key, err: cause });
    }
  }
}

/** Refs that get an index entry: those that are new, without the id. */
const newRefs = (before: Thread | null, after: Thread): readonly Ref[] => {
  const known = new Set<Ref>([after.id, ...(before === null ? [] : refsOf(before))]);
  return [...new Set(refsOf(after))].filter((ref) => !known.has(ref));
};

/** Refs that lead nowhere yet and are to lead to the thread. */
function claimsOf(ref: Ref, before: Thread | null, after: Thread): readonly Ref[] {
  if (before === null) {
    const claims = [after.id, ...newRefs(before, after)];
    if (!claims.includes(ref) && ref !== threadRef(after.id)) {
      throw new TypeError(`A thread was begun under ${ref}, which doesn't lead to it.`);
    }
    return claims;
  }
  if (after.id !== before.id) throw new TypeError(`The thread ${before.id} was given another id.`);
  return newRefs(before, after);
}

/** False if somebody else has one of the keys. */
function takeAll(held: Held, keys: readonly string[]): boolean {
  return keys.every((key) => held.has(key) || held.take(key));
}
