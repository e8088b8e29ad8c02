/** Lists the simulated service's runs, with its page size, its lag, and the filters that it supports. */
import type { Run } from "#core/run.ts";
import type { RunPage, RunQuery } from "#ports.ts";
import type { Random } from "#test/simulation/story/random.ts";
import type { Machine } from "#test/simulation/world/machine.ts";
import type { RunsService } from "./runs-service.ts";

/** The copy that answers: how late it shows new runs and changes, and the order of its equal times. */
export interface Copy {
  readonly runsMs: number;
  readonly changesMs: number;
  readonly random: Random;
}

export function listRuns(
  machine: Machine,
  { runs, crowd }: RunsService,
  query: RunQuery,
  copy: Copy,
): RunPage {
  const { weather, time } = machine;
  const by = query.sort_by ?? "updated_at";
  const found: Run[] = [];
  const take = (run: Run): void => {
    if (isMeant(run, query, weather)) found.push(run);
  };
  for (const { words } of runs.values()) {
    const [first] = words;
    if (first === undefined || first.at > time.nowMs - copy.runsMs) continue;
    take((words.findLast(({ at }) => at <= time.nowMs - copy.changesMs) ?? first).run);
  }
  for (const { at, run } of crowd) if (at <= time.nowMs - copy.runsMs) take(run);
  const order = weather.unordered
    ? new Map(found.map((run) => [run.run_id, copy.random.next()]))
    : new Map<string, number>();
  const upward = query.sort_order === "asc" ? -1 : 1;
  found.sort((one, two) =>
    two[by] === one[by]
      ? (order.get(one.run_id) ?? 0) - (order.get(two.run_id) ?? 0)
      : (two[by] > one[by] ? 1 : -1) * upward,
  );
  const rest = found.slice(placeOf(query.cursor, found, by, upward));
  const page = rest.slice(0, Math.min(query.limit ?? 20, weather.pageSize));
  const more = page.length < rest.length;
  return {
    runs: page,
    page_info: { has_next_page: more, ...(more ? { next_cursor: cursorAfter(page, query, by) } : {}) },
    ...(weather.givesDate ? { servedAt: machine.clock("agent-runs") } : {}),
  };
}

/**
 * A cursor names the time of the last run, and how many of that time were shown: by a number of runs alone, a copy that
 * lacks the newest would go on behind a run that was never shown.
 */
function cursorAfter(page: readonly Run[], query: RunQuery, by: "created_at" | "updated_at"): string {
  const time = page.at(-1)?.[by];
  const [before, shown] = query.cursor?.split(" ") ?? [];
  const ofTime = page.filter((run) => run[by] === time).length;
  return `${time} ${ofTime + (before === time ? Number(shown) : 0)}`;
}

/** Returns the number of sorted runs before the cursor. */
function placeOf(
  cursor: string | undefined,
  runs: readonly Run[],
  by: "created_at" | "updated_at",
  upward: number,
): number {
  if (cursor === undefined) return 0;
  const [time = "", shown] = cursor.split(" ");
  const isBefore = (run: Run): boolean => (upward === 1 ? run[by] > time : run[by] < time);
  const first = runs.findIndex((run) => !isBefore(run));
  const ofTime = runs.filter((run) => run[by] === time).length;
  return (first < 0 ? runs.length : first) + Math.min(Number(shown), ofTime);
}

/** All timestamps come from toISOString, so that they compare as strings. */
function isMeant(
  run: Run,
  query: RunQuery,
  { ignoredFilters, honoursMetadata }: Machine["weather"],
): boolean {
  const { name, created_after, created_before, updated_after, metadata } = query;
  const heeds = (filter: "name" | "created_after" | "updated_after"): boolean => !ignoredFilters.has(filter);
  if (name !== undefined && heeds("name") && run.agent_config?.name !== name) return false;
  if (created_after !== undefined && heeds("created_after") && run.created_at <= created_after) return false;
  if (created_before !== undefined && heeds("created_after") && run.created_at >= created_before)
    return false;
  if (updated_after !== undefined && heeds("updated_after") && run.updated_at <= updated_after) return false;
  if (metadata === undefined || !honoursMetadata) return true;
  return Object.entries(metadata).every(([key, value]) => run.metadata?.[key] === value);
}
