import pLimit, { type LimitFunction } from "p-limit";

/** Runs `work` as soon as its key has a slot free, first come first served. Settles as `work` does. */
export type KeyedLimit = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Lets at most `perKey` works run at once under each key, so that one key's work never delays another's. */
export function createKeyedLimit(perKey: number): KeyedLimit {
  const limits = new Map<string, LimitFunction>();
  return (key, work) => {
    const limit = limits.get(key) ?? pLimit(perKey);
    limits.set(key, limit);
    return limit(work);
  };
}
