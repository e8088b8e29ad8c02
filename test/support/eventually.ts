import { setTimeout as sleep } from "node:timers/promises";

const lookMs = 25;
const longestMs = 30_000;

/** Waits until the look gives something and answers that; fails loudly after a long while. */
export async function eventually<T>(what: string, look: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (let waited = 0; waited < longestMs; waited += lookMs) {
    const seen = await look();
    if (seen !== undefined && seen !== null && seen !== false) return seen as NonNullable<T>;
    await sleep(lookMs);
  }
  throw new Error(`this never came: ${what}`);
}
