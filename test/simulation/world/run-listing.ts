/** Lists the simulated service's runs, with its page size, its lag, and the filters that it supports. */
import type { Run } from "#core/run.ts";
import type { RunPage, RunQuery } from "#ports.ts";
import type { Machine } from "./machine.ts";
import type { SimulatedRun } from "./simulated-run.ts";

export function listRuns(
  { weather, healed, time }: Machine,
  runs: Iterable<SimulatedRun>,
  query: RunQuery,
): RunPage {
  const by = query.sort_by ?? "updated_at";
  // New runs are listed at once; only later changes appear with a lag.
  const asOf = healed || by === "created_at" ? time.nowMs : time.nowMs - weather.listLagMs;
  const heeds = (filter: "name" | "created_after" | "updated_after"): boolean =>
    query[filter] !== undefined && !weather.ignoredFilters.has(filter);
  // All timestamps come from toISOString, so that they compare as strings.
  const later = (than: string, after: string | undefined): boolean => after !== undefined && than > after;
  const found: Run[] = [];
  for (const run of runs) {
    const word = run.words.findLast(({ at }) => at <= asOf)?.run;
    if (word === undefined) continue;
    if (heeds("name") && run.name !== query.name) continue;
    if (heeds("created_after") && !later(word.created_at, query.created_after)) continue;
    if (heeds("updated_after") && !later(word.updated_at, query.updated_after)) continue;
    found.push(word);
  }
  found.sort((one, two) => (two[by] === one[by] ? 0 : two[by] > one[by] ? 1 : -1));
  const from = Number(query.cursor ?? 0);
  const to = from + Math.min(query.limit ?? 20, weather.pageSize);
  const more = to < found.length;
  return {
    runs: found.slice(from, to),
    page_info: { has_next_page: more, ...(more ? { next_cursor: String(to) } : {}) },
  };
}
