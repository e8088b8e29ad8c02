import type { DatabaseSync } from "node:sqlite";
import { setImmediate as othersTurn } from "node:timers/promises";
import type { ListFilter } from "./list-query.ts";
import { type Result, refused } from "./problem.ts";
import { type Condition, conditionsOf } from "./run-conditions.ts";
import { type Mark, readCursor, writeCursor } from "./run-cursor.ts";
import type { Run } from "./run-document.ts";
import { lookFor } from "./run-look.ts";
import { createQueries, type Row } from "./run-queries.ts";

export interface Page {
  readonly runs: readonly Run[];
  /** null: nothing follows. */
  readonly nextCursor: string | null;
}

/** Where one condition lets through no more, those are looked at and sorted; else all, in the order of an index. */
const fewRuns = 2_000;
/** So many are looked at before others have their turn. */
const stretch = 5_000;
/** So many are searched for words before others have their turn. */
const stretchOfSearch = 500;

interface Found {
  readonly run: Run;
  readonly mark: Mark;
}

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

  /** The matching runs after the mark, in their order, as many as a page has and one more. */
  async function find(
    filter: ListFilter,
    conditions: readonly Condition[],
    after: Mark | null,
  ): Promise<readonly Found[]> {
    const wanted = filter.limit + 1;
    const words = filter.q?.toLowerCase();
    const most = words === undefined ? wanted : stretchOfSearch;
    const look = lookFor(filter, conditions, rarest(conditions));
    const found = new Map<number, Found>();

    /** Adds what one stretch after the mark has; where it ended, null if nothing follows. */
    function lookOn(from: Mark | null): Mark | null {
      const end = look.stretch === null ? null : look.stretch(from, stretch);
      const [until] = end === null ? [] : query(end.sql, end.values);
      const { sql, values } = look.runs(from, until === undefined ? null : markOf(until), most);
      const rows = query(sql, values);
      for (const row of rows) {
        const mark = markOf(row);
        // It may have been changed, and so moved, since an earlier stretch.
        if (found.has(mark.order)) continue;
        if (words !== undefined && !mayMention(String(row.run), words)) continue;
        const run = runAt(mark.order);
        if (run === null || (words !== undefined && !mentions(run, words))) continue;
        found.set(mark.order, { run, mark });
        if (found.size === wanted) return null;
      }
      const last = rows.length < most ? until : rows.at(-1);
      return last === undefined ? null : markOf(last);
    }

    for (let from = after; ; await othersTurn()) {
      from = atOnce(database, () => lookOn(from));
      if (from === null) return [...found.values()];
    }
  }

  return async (filter) => {
    const after = filter.cursor === null ? null : readCursor(filter.cursor, filter);
    if (after === "invalid") {
      return refused("invalid_request", "cursor: it is not one that this service gave for the same sorting");
    }
    const conditions = conditionsOf(filter);
    const found = conditions === null ? [] : await find(filter, conditions, after);
    const page = found.slice(0, filter.limit);
    const last = page.at(-1);
    const nextCursor = found.length > page.length && last ? writeCursor(last.mark, filter) : null;
    return { ok: true, value: { runs: page.map(({ run }) => run), nextCursor } };
  };
}

const mentions = (run: Run, words: string): boolean =>
  [run.title, run.prompt, run.skill ?? ""].some((text) => text.toLowerCase().includes(words));

/** False only if the run does not mention the words: JSON writes each character by itself, wherever it is. */
const mayMention = (json: string, words: string): boolean =>
  json.toLowerCase().includes(JSON.stringify(words).slice(1, -1).toLowerCase());

function markOf({ key, ord }: Row): Mark {
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
