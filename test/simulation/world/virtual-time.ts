/** Virtual time: it passes only when all work is done that needs no time. */

interface Due {
  readonly at: number;
  readonly order: number;
  /** null: cancelled. */
  what: (() => void) | null;
}

let turn: Promise<void> | null = null;

/** Resolves when no microtask is left. Histories that run side by side share one turn of the event loop. */
function drained(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = null;
      resolve();
    });
  });
  return turn;
}

export class VirtualTime {
  readonly startMs = Date.parse("2026-01-01T00:00:00Z");
  /** True time, which never goes back. */
  nowMs = this.startMs;
  /** Number of steps so far. */
  happened = 0;
  readonly #heap: Due[] = [];
  #order = 0;

  /** Calls `then` after `ms`, in the order of time, then of the calls. Returns a function that cancels it. */
  after(ms: number, what: () => void): () => void {
    this.#order += 1;
    const due: Due = { at: this.nowMs + Math.max(ms, 0), order: this.#order, what };
    this.#push(due);
    return () => {
      due.what = null;
    };
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, resolve);
    });
  }

  /** Lets time pass for at most `ms`, or until `enough` returns true. Returns whether it did. */
  async pass(ms: number, enough: () => boolean = () => false): Promise<boolean> {
    const until = this.nowMs + ms;
    await drained();
    while (!enough()) {
      const due = this.#next(until);
      if (due === null) {
        this.nowMs = until;
        return enough();
      }
      this.nowMs = Math.max(this.nowMs, due.at);
      this.happened += 1;
      due.what?.();
      await drained();
    }
    return true;
  }

  #next(until: number): Due | null {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || (first.what !== null && first.at > until)) return null;
      this.#pop();
      if (first.what !== null) return first;
    }
  }

  #push(due: Due): void {
    const heap = this.#heap;
    let place = heap.length;
    heap.push(due);
    while (place > 0) {
      const above = (place - 1) >> 1;
      const other = heap[above];
      if (other === undefined || !isBefore(due, other)) break;
      heap[place] = other;
      place = above;
    }
    heap[place] = due;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      const left = heap[below];
      const right = heap[below + 1];
      if (left === undefined) break;
      let least = left;
      if (right !== undefined && isBefore(right, left)) {
        least = right;
        below += 1;
      }
      if (!isBefore(least, last)) break;
      heap[place] = least;
      place = below;
    }
    heap[place] = last;
  }
}

const isBefore = (one: Due, other: Due): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);
