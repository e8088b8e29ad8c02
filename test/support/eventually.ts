import { setTimeout as sleep } from "node:timers/promises";

const intervalMs = 15;
const timeoutMs = 45_000;

/**
 * Calls `look` until it returns something other than undefined, null or false, and returns that.
 * Rejects after 45 seconds; `what` names the awaited thing in the error.
 */
export async function eventually<T>(
  what: string,
  look: () => T | Promise<T>,
): Promise<Exclude<T, undefined | null | false>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (isThere(seen)) return seen;
    if (performance.now() > deadline) throw new Error(`Timed out waiting for ${what}`);
    await sleep(intervalMs);
  }
}

const isThere = <T>(seen: T): seen is Exclude<T, undefined | null | false> =>
  seen !== undefined && seen !== null && seen !== false;
