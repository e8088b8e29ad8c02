/** Second runs of a dispatch that the bot ended soon: they are counted, and not judged as doubled. */
import type { Outside, SeenRun } from "#test/kill/outside.ts";

/** The default settling time of the API. */
const soonMs = 60_000;

/** Returns what is visible without the twins that were cancelled within a minute, and their number. */
export function withoutTwins(outside: Outside): { readonly outside: Outside; readonly twins: number } {
  const isShort = ({ state, created_at, updated_at }: SeenRun): boolean =>
    state === "CANCELLED" && Date.parse(updated_at) - Date.parse(created_at) <= soonMs;
  const runs = outside.runs.filter((run) => {
    const same = outside.runs.filter(({ dispatch }) => dispatch === run.dispatch);
    return !isShort(run) || run === (same.find((other) => !isShort(other)) ?? same[0]);
  });
  return { outside: { ...outside, runs }, twins: outside.runs.length - runs.length };
}
