/** Reproducible randomness: all choices in a history come from its seed. */
export interface Random {
  /** 0 to 1. */
  next(): number;
  chance(probability: number): boolean;
  between(least: number, most: number): number;
  whole(least: number, most: number): number;
  pick<T>(items: readonly T[]): T;
  /** One of the names, with a probability in proportion to its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K;
}

/** A random stream of its own for each name, so that one part's draws don't change another's. */
export function createRandom(seed: number, name: string): Random {
  let state = seed | 0;
  for (const letter of name) state = Math.imul(state ^ letter.charCodeAt(0), 0x9e3779b1);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  for (let draws = 0; draws < 4; draws += 1) next();
  return randomOf(next);
}

/** `next` as in `Random`. */
export function randomOf(next: () => number): Random {
  const whole = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    chance: (probability) => next() < probability,
    between: (least, most) => least + next() * (most - least),
    whole,
    pick(items) {
      const item = items[whole(0, items.length - 1)];
      if (item === undefined) throw new Error("There is nothing to pick from.");
      return item;
    },
    weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
      let left = next() * Object.values<number>(weights).reduce((sum, weight) => sum + weight, 0);
      let last: K | undefined;
      for (const key in weights) {
        last = key;
        left -= weights[key];
        if (left < 0) return key;
      }
      if (last === undefined) throw new Error("There is nothing to pick from.");
      return last;
    },
  };
}
