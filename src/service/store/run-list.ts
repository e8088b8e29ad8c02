import type { DatabaseSync } from "node:sqlite";
import { setImmediate as othersTurn } from "node:timers/promises";
import type { Run } from "#service/run/run-document.ts";
import type { ListFilter } from "#service/wire/list-query.ts";
import { type Result, refused } from "#service/wire/problem.ts";
import { type Look, lookFor, type Query } from "./list-sql.ts";
import { type Condition, conditionsOf } from "./run-conditions.ts";
import { type Mark, readCursor, sortColumns, writeCursor } from "./run-cursor.ts";
import { createQueries, type Row } from "./run-queries.ts";

export interface Page {
  readonly runs: readonly Run[];
  /** null: nothing follows. */
  readonly nextCursor: string | null;
}

export interface ListBounds {
  /** Where one condition lets through no more, those are looked at and sorted; else all are looked through. */
  readonly few: number;
  /** So many are looked at before others have their turn. */
  readonly stretch: number;
  /** So many are searched for words before others have their turn. */
  readonly stretchOfSearch: number;
}
const usualBounds: ListBounds = { few: 2_000, stretch: 5_000, stretchOfSearch: 500 };

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
  bounds: ListBounds = usualBounds,
): (filter: ListFilter) => Promise<Result<Page>> {
  const query = createQueries(database);

  /** The condition that the fewest runs meet; null if each is met by many. */
  function rarest(conditions: readonly Condition[]): Condition | null {
    let found: Condition | null = null;
    let most = bounds.few;
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
  ): Promise<Iterable<Found>> {
    const look = lookFor(filter, conditions, rarest(conditions));
    const wanted = filter.limit + 1;
    const words = filter.q?.toLowerCase();
    const length = words === undefined ? bounds.stretch : bounds.stretchOfSearch;
    const rowsOf = ({ sql, values }: Query): readonly Row[] => query(sql, values);

    function runIn(row: Row): Run | null {
      if (words !== undefined && !mayMention(String(row.run), words)) return null;
      const run = runAt(Number(row.ord));
      return run !== null && (words === undefined || mentions(run, words)) ? run : null;
    }

    type Runs = (after: Mark | null, limit: number) => Query;
    /** Adds what the rows after the mark have, in their order; true when the page is full. */
    function gather(found: Map<number, Found>, begin: Mark | null, runs: Runs): boolean {
      const limit = words === undefined ? wanted : -1;
      for (let from = begin; ; ) {
        const rows = rowsOf(runs(from, limit));
        for (const row of rows) {
          const mark = markOf(row);
          // It may have been changed, and so moved, since an earlier stretch.
          const run = found.has(mark.order) ? null : runIn(row);
          if (run !== null) found.set(mark.order, { run, mark });
          if (found.size === wanted) return true;
        }
        const last = rows.length === limit ? rows.at(-1) : undefined;
        if (last === undefined) return false;
        from = markOf(last);
      }
    }

    async function inOrder({ end, runs }: Look & { readonly kind: "sorted" }): Promise<Iterable<Found>> {
      const found = new Map<number, Found>();
      for (let begin = after; ; await othersTurn()) {
        begin = atOnce(database, () => {
          const [last] = rowsOf(end(begin, length));
          const until = last === undefined ? null : markOf(last);
          return gather(found, begin, (from, limit) => runs(from, until, limit)) ? null : until;
        });
        if (begin === null) return found.values();
      }
    }

    async function inNoOrder({ runs }: Look & { readonly kind: "unsorted" }): Promise<Iterable<Found>> {
      const compare = comparing(filter.sort_order);
      let best: readonly Found[] = [];
      const last = Number(query("SELECT max(ord) AS last FROM run", [])[0]?.last ?? 0);
      for (let begin = 1; begin <= last; begin += length) {
        const found = new Map<number, Found>();
        atOnce(database, () =>
          gather(found, after, (from, limit) => runs(from, begin, begin + length - 1, limit)),
        );
        best = [...best, ...found.values()].sort((a, b) => compare(a.mark, b.mark)).slice(0, wanted);
        await othersTurn();
      }
      return best;
    }

    switch (look.kind) {
      case "few": {
        const found = new Map<number, Found>();
        atOnce(database, () => gather(found, after, look.runs));
        return found.values();
      }
      case "sorted":
        return inOrder(look);
      case "unsorted":
        return inNoOrder(look);
      default:
        return look satisfies never;
    }
  }

  return async (filter) => {
    const { column } = sortColumns[filter.sort_by];
    const keyAt = (order: number): string | null => {
      const [row] = query(`SELECT ${column} AS key FROM run WHERE ord = ?`, [order]);
      return typeof row?.key === "string" ? row.key : null;
    };
    const after = filter.cursor === null ? null : readCursor(filter.cursor, filter, keyAt);
    if (after === "invalid") {
      return refused("invalid_request", "cursor: it is not one that this service gave for the same sorting");
    }
    const conditions = conditionsOf(filter);
    const found = conditions === null ? [] : [...(await find(filter, conditions, after))];
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

/** As SQLite compares: by the bytes of UTF-8. */
function comparing(order: ListFilter["sort_order"]): (a: Mark, b: Mark) => number {
  const direction = order === "asc" ? 1 : -1;
  const bytes = ({ key }: Mark): Buffer => Buffer.from(String(key));
  return (a, b) => direction * (Buffer.compare(bytes(a), bytes(b)) || a.order - b.order);
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
