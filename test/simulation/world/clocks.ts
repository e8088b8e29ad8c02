/** The clocks of the four systems, which may be wrong, drift and step. */
export type System = "agent-runs" | "slack" | "github";

export interface ClockFaults {
  /** Ahead of true time. */
  readonly skewMs: number;
  readonly driftMsAnHour: number;
  /** `atMs`: milliseconds from the start. */
  readonly steps: readonly { readonly atMs: number; readonly byMs: number }[];
}

/** `bot`: the wall clock of the machine on which the bot runs. */
export type Clocks = Readonly<Record<System | "bot", ClockFaults>>;

/** The milliseconds by which a clock is ahead of true time, `sinceMs` after the start. */
export function aheadMs({ skewMs, driftMsAnHour, steps }: ClockFaults, sinceMs: number): number {
  let ahead = skewMs + (driftMsAnHour * sinceMs) / 3_600_000;
  for (const { atMs, byMs } of steps) if (atMs <= sinceMs) ahead += byMs;
  return ahead;
}
