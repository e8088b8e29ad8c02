/** What bounds the engine. Each has a default, which tests may shorten. */
export interface Limits {
  /** Effects of one kind under way at once, for each platform and for the API. */
  readonly perSystem: number;
  /** An effect that takes longer is given up; what became of it is then unknown. */
  readonly effectMs: number;
  /** How long a stop waits for what is in flight. */
  readonly stopMs: number;
}

export const defaultLimits: Limits = {
  perSystem: 16,
  effectMs: 5 * 60_000,
  // Whoever supervises the bot has often lost patience after ten seconds.
  stopMs: 9_000,
};
