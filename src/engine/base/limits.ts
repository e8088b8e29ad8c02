/** Limits of the engine; tests shorten them. */
export interface Limits {
  /** Effects of one kind under way at once, for each platform and for the API. */
  readonly perSystem: number;
  /** An effect that takes longer has an unknown outcome. */
  readonly effectMs: number;
  /** How long a stop waits for what is in flight. */
  readonly stopMs: number;
}

export const defaultLimits: Limits = {
  perSystem: 16,
  effectMs: 5 * 60_000,
  // Many supervisors kill a process ten seconds after they told it to stop.
  stopMs: 9_000,
};
