/** Keys that one holder took; `release` gives all of them back. */
export interface Held {
  has(key: string): boolean;
  /** Takes one more key if it is free. Never waits, so that holders can't wait for each other in a circle. */
  take(key: string): boolean;
  release(): void;
}

/** Lets one holder at a time have a key, first come, first served. */
export class KeyedLock {
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Resolves when all keys are held. They are waited for in one order everywhere: no circle can form. */
  async hold(keys: Iterable<string>): Promise<Held> {
    const mine = new Set<string>();
    for (const key of [...new Set(keys)].sort()) {
      if (!this.#take(key)) await new Promise<void>((turn) => this.#waiting.get(key)?.push(turn));
      mine.add(key);
    }
    return {
      has: (key) => mine.has(key),
      take: (key) => {
        const taken = this.#take(key);
        if (taken) mine.add(key);
        return taken;
      },
      release: () => {
        for (const key of mine) this.#release(key);
        mine.clear();
      },
    };
  }

  #take(key: string): boolean {
    if (this.#waiting.has(key)) return false;
    this.#waiting.set(key, []);
    return true;
  }

  #release(key: string): void {
    const next = this.#waiting.get(key)?.shift();
    if (next === undefined) this.#waiting.delete(key);
    else next();
  }
}
