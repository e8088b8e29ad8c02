import { toApi } from "#core/effect.ts";

/** Limits of the engine. */
export interface Limits {
  /** Concurrent effects of one kind, for each platform and the API; edits, labels and looks for twins get a quarter. */
  readonly perSystem: number;
  /** An effect times out after this, with an unknown outcome. */
  readonly effectMs: number;
  /** Settling times by system; a platform's own if absent. */
  readonly settlingMs: Readonly<Record<string, number>>;
  /** Whether effects keep their platforms' paces. */
  readonly paced: boolean;
  /** A stop waits so long for work in flight. */
  readonly stopMs: number;
}

/** The limits in production. */
export const defaultLimits: Limits = {
  // A hundred creates a second that take a quarter of a second each, and as many again.
  perSystem: 48,
  effectMs: 5 * 60_000,
  settlingMs: { [toApi]: 60_000 },
  paced: true,
  // Many supervisors kill a process ten seconds after SIGTERM.
  stopMs: 9_000,
};
