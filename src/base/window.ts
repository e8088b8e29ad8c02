/** Where the look-up of something must begin, by the other system's clock. Ours is never compared with it. */

/** The most by which the times that one system gives may differ from each other. */
export const skewMs = 15 * 60_000;
/** The most by which our clock may have been set back unnoticed, while the bot was not running. */
const setBackMs = 15 * 60_000;
/** The age of something if our clock has been set by an unknown time, as something from the future shows. */
export const unknownAgeMs = 25 * 60 * 60_000;

/**
 * Returns the time before which nothing happened of what began `ageMs` ago by our clock; `nowMs` is the other system's
 * own time. Milliseconds.
 */
export const windowStart = (nowMs: number, ageMs: number): number =>
  nowMs - (ageMs >= 0 ? ageMs + setBackMs : unknownAgeMs) - skewMs;
