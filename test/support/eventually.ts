import { setTimeout as sleep } from "node:timers/promises";

/** The looks become rarer, since many tests wait at the same time and a look may cost a few milliseconds. */
const firstMs = 10;
const longestMs = 50;
/** On a machine with many times its load, a bot takes half a minute to start. */
const timeoutMs = 100_000;

/**
 * Calls `look` until it returns something other than undefined, null or false, and returns that.
 * Rejects after 100 seconds; `what` names the awaited thing in the error.
 */
export async function eventually<T>(
  what: string,
  look: () => T | Promise<T>,
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = performance.now() + timeoutMs;
  for (let waitMs = firstMs; ; waitMs = Math.min(waitMs * 1.2, longestMs)) {
    const seen = await look();
    if (isThere(seen)) return seen;
    if (performance.now() > deadline) throw new Error(`Timed out waiting for ${what}`);
    await sleep(waitMs);
  }
}

const isThere = <T>(seen: T): seen is Exclude<T, undefined | null | false> =>
  seen !== undefined && seen !== null && seen !== false;
