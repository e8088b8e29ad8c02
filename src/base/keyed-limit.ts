import pLimit, { type LimitFunction } from "p-limit";

/** Runs `work` when its key has a free slot, in the order of the calls. Settles as `work` does. */
export type KeyedLimit = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Creates a limit of `perKey` concurrent works for each key; keys don't delay each other. */
export function createKeyedLimit(perKey: number): KeyedLimit {
  const limits = new Map<string, LimitFunction>();
  return (key, work) => {
    const limit = limits.get(key) ?? pLimit(perKey);
    limits.set(key, limit);
    return limit(work);
  };
}
