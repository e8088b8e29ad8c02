import type { DatabaseSync } from "node:sqlite";
import { setImmediate as othersTurn } from "node:timers/promises";
import type { Run } from "#service/run/run-document.ts";
import type { ListFilter } from "#service/wire/list-query.ts";
import { type Result, refused } from "#service/wire/problem.ts";
import { type Condition, conditionsOf, type Plan, planFor, type Query } from "./list-sql.ts";
import { type Mark, readCursor, sortKeys, writeCursor } from "./run-cursor.ts";
import { createQueries, type Row } from "./run-queries.ts";

/** A page of a list. */
export interface Page {
  readonly runs: readonly Run[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

/** Numbers of runs. */
export interface ListBounds {
  /** A condition is rare if at most so many runs meet it. */
  readonly rare: number;
  /** Runs that are read before other work gets its turn. */
  readonly batch: number;
  /** The same while searching for text. */
  readonly searchBatch: number;
}
/**
 * Among 50,000 runs, the one match of a rare condition takes 0.1 ms by its index and 70 ms without. A batch takes
 * about 10 ms.
 */
const defaultBounds: ListBounds = { rare: 2_000, batch: 5_000, searchBatch: 500 };

interface Found {
  readonly run: Run;
  readonly mark: Mark;
}

/**
 * Returns a function that reads one page of the matching runs, sorted; a refusal if the cursor is invalid. `runAt`
 * reads the run with that place in the order of creation; null if it can't be read. Runs may change between the
 * batches of a page.
 */
export function createRunList(
  database: DatabaseSync,
  runAt: (order: number) => Run | null,
  bounds: ListBounds = defaultBounds,
): (filter: ListFilter) => Promise<Result<Page>> {
  const query = createQueries(database);

  /** Selects the runs of the condition that the fewest meet; null if none is rare. */
  function rarest(conditions: readonly Condition[]): Query | null {
    let found: Query | null = null;
    let most = bounds.rare;
    for (const { select, values } of conditions) {
      if (select === null) continue;
      const [row] = query(`SELECT count(*) AS runs FROM (${select} LIMIT ?)`, [...values, most + 1]);
      const count = Number(row?.runs);
      if (count > most) continue;
      found = { sql: select, values };
      most = count;
    }
    return found;
  }

  /** The matching runs after the mark, sorted: those of a page and one more. */
  async function find(
    filter: ListFilter,
    conditions: readonly Condition[],
    after: Mark | null,
  ): Promise<Iterable<Found>> {
    const plan = planFor(filter, conditions, rarest(conditions));
    const wanted = filter.limit + 1;
    const words = filter.q?.toLowerCase();
    const length = words === undefined ? bounds.batch : bounds.searchBatch;
    const rowsOf = ({ sql, values }: Query): readonly Row[] => query(sql, values);

    type Runs = (after: Mark | null, limit: number) => Query;
    /** Adds the matches in a batch after the mark, sorted; true when the page is full. */
    function gather(found: Map<number, Found>, begin: Mark | null, runs: Runs): boolean {
      const limit = words === undefined ? wanted : -1;
      for (let from = begin; ; ) {
        const rows = rowsOf(runs(from, limit));
        for (const row of rows) {
          const mark = markOf(row);
          // A change since an earlier batch may have moved the run.
          const run = found.has(mark.order) ? null : runAt(mark.order);
          if (run !== null && (words === undefined || mentions(run, words))) {
            found.set(mark.order, { run, mark });
          }
          if (found.size === wanted) return true;
        }
        const last = rows.length === limit ? rows.at(-1) : undefined;
        if (last === undefined) return false;
        from = markOf(last);
      }
    }

    async function findSorted({ end, runs }: Plan & { readonly kind: "sorted" }): Promise<Iterable<Found>> {
      const found = new Map<number, Found>();
      for (let begin = after; ; await othersTurn()) {
        begin = inSnapshot(database, () => {
          const batchEnd = end(begin, length);
          const [last] = batchEnd === null ? [] : rowsOf(batchEnd);
          const until = last === undefined ? null : markOf(last);
          return gather(found, begin, (from, limit) => runs(from, until, limit)) ? null : until;
        });
        if (begin === null) return found.values();
      }
    }

    async function findUnsorted({ runs }: Plan & { readonly kind: "unsorted" }): Promise<Iterable<Found>> {
      const compare = comparing(filter.sort_order);
      let best: readonly Found[] = [];
      const last = Number(query("SELECT max(ord) AS last FROM run", [])[0]?.last ?? 0);
      for (let begin = 1; begin <= last; begin += length) {
        const found = new Map<number, Found>();
        inSnapshot(database, () =>
          gather(found, after, (from, limit) => runs(from, begin, begin + length - 1, limit)),
        );
        best = [...best, ...found.values()].sort((a, b) => compare(a.mark, b.mark)).slice(0, wanted);
        await othersTurn();
      }
      return best;
    }

    return plan.kind === "sorted" ? findSorted(plan) : findUnsorted(plan);
  }

  return async (filter) => {
    const { key } = sortKeys[filter.sort_by];
    const keyAt = (order: number): string | null => {
      const [row] = query(`SELECT ${key(filter.sort_order)} AS key FROM run WHERE ord = ?`, [order]);
      return typeof row?.key === "string" ? row.key : null;
    };
    const after = filter.cursor === null ? null : readCursor(filter.cursor, filter, keyAt);
    if (after === "invalid") {
      return refused(
        "invalid_request",
        "cursor: it must be the `next_cursor` of a page with the same sorting",
      );
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

function markOf({ key, ord }: Row): Mark {
  if (typeof key !== "number" && typeof key !== "string") throw new Error("a run has no sort key");
  return { key, order: Number(ord) };
}

/** Compares as SQLite does, by the bytes of UTF-8. */
function comparing(order: ListFilter["sort_order"]): (a: Mark, b: Mark) => number {
  const direction = order === "asc" ? 1 : -1;
  const bytes = ({ key }: Mark): Buffer => Buffer.from(String(key));
  return (a, b) => direction * (Buffer.compare(bytes(a), bytes(b)) || a.order - b.order);
}

/** Runs several reads on one snapshot of the database. */
function inSnapshot<T>(database: DatabaseSync, read: () => T): T {
  database.exec("BEGIN");
  try {
    return read();
  } finally {
    database.exec("COMMIT");
  }
}
