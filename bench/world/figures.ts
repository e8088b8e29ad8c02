/** Figures beside a baseline and an aim, as a table. */

export interface Figure {
  readonly what: string;
  /** With its unit. */
  readonly measured: string;
  readonly baseline?: string;
  readonly aim?: { readonly text: string; readonly met: boolean };
}

/** Returns the quantile of the values, such as 0.5 for the median; NaN if there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const inMs = (value: number): string => `${value.toFixed(value < 100 ? 2 : 0)} ms`;
export const inMegabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`;

/** An aim that is an upper bound; a missing figure never meets it. */
export const atMost = (value: number, bound: number, text: string): NonNullable<Figure["aim"]> => ({
  text,
  met: value <= bound,
});

/** A multiple of the baseline, with an aim. */
export function timesBaseline(
  what: string,
  ours: number,
  baseline: number,
  bound: number | null,
  unit: (value: number) => string = inMs,
): Figure {
  const times = ours / baseline;
  return {
    what,
    measured: `${unit(ours)} (${times.toFixed(2)} times)`,
    baseline: unit(baseline),
    ...(bound === null ? {} : { aim: atMost(times, bound, `at most ${bound} times`) }),
  };
}

/** The lines of the table, its columns aligned. */
export function tableOf(figures: readonly Figure[]): readonly string[] {
  const rows = figures.map(({ what, measured, baseline = "", aim }) => [
    what,
    measured,
    baseline,
    aim?.text ?? "",
    aim === undefined ? "" : aim.met ? "met" : "missed",
  ]);
  const all = [["figure", "measured", "baseline", "aim", ""], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
