import { LRUCache } from "lru-cache";
import { type Ref, threadRef } from "#core/place.ts";
import { refsOf, type Thread } from "#core/thread.ts";
import { type Documents, keyOf } from "./documents.ts";
import { ThreadUnreadable } from "./errors.ts";
import type { Folder } from "./folder.ts";

const threadPrefix = threadRef("");

/** How many refs are remembered with the thread that they lead to. */
const remembered = 10_000;

/** Whether the thread itself says that the ref leads to it. */
const names = (thread: Thread | null, ref: Ref): boolean =>
  thread !== null && (thread.id === ref || threadRef(thread.id) === ref || refsOf(thread).includes(ref));

/**
 * What leads from a ref to its thread. A thread is filed under its id; each of its other refs has a file in
 * the index that holds the id, written before the thread names the ref. An entry whose thread is gone, or
 * doesn't name the ref, is what a crash in between leaves, and leads nowhere.
 */
export class Refs {
  readonly #index: Folder;
  readonly #documents: Documents;
  readonly #known = new LRUCache<Ref, string>({ max: remembered });

  constructor(index: Folder, documents: Documents) {
    this.#index = index;
    this.#documents = documents;
  }

  /**
   * Key of the ref's thread, or the key under which a thread begun with the ref would be filed.
   * Rejects with `ThreadUnreadable` if there is a thread that can't be read.
   */
  async lead(ref: Ref): Promise<string> {
    if (ref.startsWith(threadPrefix)) return keyOf(ref.slice(threadPrefix.length));
    const known = this.#known.get(ref);
    if (known !== undefined && names(await this.#documents.load(known), ref)) return known;
    const own = keyOf(ref);
    if ((await this.#documents.load(own)) !== null) return own;
    const id = this.#read(ref);
    if (id === null) return own;
    const indexed = keyOf(id);
    if (!names(await this.#documents.load(indexed), ref)) return own;
    this.#known.set(ref, indexed);
    return indexed;
  }

  /** Resolves when the ref durably leads to the thread, as soon as that names it. */
  write(ref: Ref, threadId: string): Promise<void> {
    return this.#index.put(keyOf(ref), `${threadId}\n`);
  }

  /** Removes the refs of a thread that is about to be removed. */
  remove(thread: Thread): void {
    for (const ref of refsOf(thread)) {
      if (ref === thread.id || this.#read(ref) !== thread.id) continue;
      this.#known.delete(ref);
      this.#index.remove(keyOf(ref));
    }
  }

  #read(ref: Ref): string | null {
    const text = this.#index.read(keyOf(ref));
    if (text === null || /^[^\n]+\n$/.test(text)) return text?.trimEnd() ?? null;
    throw new ThreadUnreadable(
      `What leads to a thread can't be read (${keyOf(ref)} in ${this.#index.path}); ` +
        "remove that file if the thread doesn't matter any more.",
    );
  }
}
