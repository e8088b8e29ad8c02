import type { DatabaseSync } from "node:sqlite";
import { setImmediate as othersTurn } from "node:timers/promises";
import type { ListFilter } from "./list-query.ts";
import { type Result, refused } from "./problem.ts";
import { type Condition, conditionsOf, type Value } from "./run-conditions.ts";
import { type Mark, readCursor, sortColumns, writeCursor } from "./run-cursor.ts";
import type { Run } from "./run-document.ts";
import { createQueries } from "./run-queries.ts";

export interface Page {
  readonly runs: readonly Run[];
  /** null: nothing follows. */
  readonly nextCursor: string | null;
}

/** Where one condition lets through no more, those are looked at and sorted; else all, in the order of an index. */
const fewRuns = 2_000;
/** So many are looked at before others have their turn. */
const stretch = 5_000;
/** So many prompts are read before others have their turn. */
const stretchOfSearch = 500;

/**
 * Makes what reads one page of the runs that match, sorted. `runAt` reads the run with that place in the order
 * of creation; null if it can't be read. A page that takes several stretches is not of one moment, as several
 * pages are not.
 */
export function createRunList(
  database: DatabaseSync,
  runAt: (order: number) => Run | null,
): (filter: ListFilter) => Promise<Result<Page>> {
  const query = createQueries(database);

  /** The condition that the fewest runs meet; null if each is met by many. */
  function rarest(conditions: readonly Condition[]): Condition | null {
    let found: Condition | null = null;
    let most = fewRuns;
    for (const condition of conditions) {
      const sql = `SELECT count(*) AS runs FROM (${condition.select} LIMIT ?)`;
      const [row] = query(sql, [...condition.values, most + 1]);
      const count = Number(row?.runs);
      if (count > most) continue;
      found = condition;
      most = count;
    }
    return found;
  }

  function mentions(order: number, words: string): boolean {
    const sql = "SELECT title, skill, text FROM run JOIN prompt USING (ord) WHERE run.ord = ?";
    const [row] = query(sql, [order]);
    if (row === undefined) return false;
    const prompt: unknown = JSON.parse(String(row.text));
    return [row.title, prompt, row.skill ?? ""].some((text) => String(text).toLowerCase().includes(words));
  }

  /** The matching runs after the mark, in their order, as many as a page has and one more. */
  async function find(
    filter: ListFilter,
    conditions: readonly Condition[],
    after: Mark | null,
  ): Promise<ReadonlyMap<number, Found>> {
    const { column } = sortColumns[filter.sort_by];
    const [direction, beyond] = filter.sort_order === "asc" ? ["ASC", ">"] : ["DESC", "<"];
    const order = `ORDER BY run.${column} ${direction}, run.ord ${direction}`;
    const past = `(run.${column}, run.ord) ${beyond}`;
    const driver = rarest(conditions);
    const source =
      driver === null
        ? `run INDEXED BY run_${column}`
        : `(${driver.select}) AS few CROSS JOIN run ON run.ord = few.ord`;
    const words = filter.q?.toLowerCase();
    const wanted = filter.limit + 1;
    const most = words === undefined ? wanted : stretchOfSearch;
    const found = new Map<number, Found>();

    /** The last run that a stretch after the mark looks at; null if that ends with the last of all. */
    function endOfStretch(from: Mark | null): Mark | null {
      const where = from === null ? "" : `WHERE ${past} (?, ?)`;
      const sql = `SELECT ${column} AS key, ord FROM run INDEXED BY run_${column} ${where} ${order} LIMIT 1 OFFSET ?`;
      const [row] = query(sql, [...valuesOf(from), stretch]);
      return row === undefined ? null : markOf(row);
    }

    /** Adds what one stretch after the mark has; where it ended, null if nothing follows. */
    function look(from: Mark | null): Mark | null {
      const until = driver === null ? endOfStretch(from) : null;
      const where = conditions.map(({ sql }) => sql);
      if (from !== null) where.push(`${past} (?, ?)`);
      if (until !== null) where.push(`NOT ${past} (?, ?)`);
      const rows = query(
        `SELECT run.${column} AS key, run.ord AS ord FROM ${source} ${where.length > 0 ? "WHERE" : ""} ${where.join(" AND ")} ${order} LIMIT ?`,
        [
          ...(driver?.values ?? []),
          ...conditions.flatMap(({ values }) => values),
          ...valuesOf(from),
          ...valuesOf(until),
          most,
        ],
      );
      for (const row of rows) {
        const mark = markOf(row);
        // It may have been changed, and so moved, since an earlier stretch.
        if (found.has(mark.order)) continue;
        if (words !== undefined && !mentions(mark.order, words)) continue;
        const run = runAt(mark.order);
        if (run !== null) found.set(mark.order, { run, mark });
        if (found.size === wanted) return null;
      }
      const last = rows.length < most ? undefined : rows.at(-1);
      return last === undefined ? until : markOf(last);
    }

    for (let from = after; ; await othersTurn()) {
      from = atOnce(database, () => look(from));
      if (from === null) return found;
    }
  }

  return async (filter) => {
    const after = filter.cursor === null ? null : readCursor(filter.cursor, filter);
    if (after === "invalid") {
      return refused("invalid_request", "cursor: it is not one that this service gave for the same sorting");
    }
    const conditions = conditionsOf(filter);
    const found = conditions === null ? [] : [...(await find(filter, conditions, after)).values()];
    const page = found.slice(0, filter.limit);
    const last = page.at(-1);
    const nextCursor = found.length > page.length && last ? writeCursor(last.mark, filter) : null;
    return { ok: true, value: { runs: page.map(({ run }) => run), nextCursor } };
  };
}

interface Found {
  readonly run: Run;
  readonly mark: Mark;
}

const valuesOf = (mark: Mark | null): readonly Value[] => (mark === null ? [] : [mark.key, mark.order]);

function markOf({ key, ord }: Readonly<Record<string, unknown>>): Mark {
  if (typeof key !== "number" && typeof key !== "string") throw new Error("a run lacks what it is sorted by");
  return { key, order: Number(ord) };
}

/** What `read` reads is all of one moment, though runs are written meanwhile. */
function atOnce<T>(database: DatabaseSync, read: () => T): T {
  database.exec("BEGIN");
  try {
    return read();
  } finally {
    database.exec("COMMIT");
  }
}
