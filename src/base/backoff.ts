/**
 * Returns the milliseconds to wait after the `failures`th failure in a row (1 is the first): doubled each time
 * from `firstMs` up to `mostMs`, then reduced by up to half; `random` is 0 to 1.
 */
export function backoffMs(failures: number, firstMs: number, mostMs: number, random: number): number {
  const fullMs = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(fullMs * (0.5 + random / 2));
}
