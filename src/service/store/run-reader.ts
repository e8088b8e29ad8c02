import type { DatabaseSync } from "node:sqlite";
import { BrokenDocument } from "#disk/durable-file.ts";
import type { Run, RunDocument } from "#service/run/run-document.ts";
import { createQueries } from "./run-queries.ts";
import { documentOf, runOf } from "./run-rows.ts";

const unfinished = "state IN ('QUEUED', 'PENDING', 'CLAIMED', 'INPROGRESS')";

/** Reads single runs and the queue from the database (run-database.ts). The store documents the methods. */
export type RunReader = ReturnType<typeof createRunReader>;

/** `onBroken` is called each time that a run can't be read. */
export function createRunReader(database: DatabaseSync, onBroken: (id: string, error: unknown) => void) {
  const query = createQueries(database);
  const placeOf = database.prepare("SELECT ord FROM run WHERE id = ?");
  const byOrder = database.prepare("SELECT run FROM item WHERE ord = ?");
  const whole = database.prepare("SELECT run, rest FROM item WHERE ord = ?");
  const said = database.prepare("SELECT words FROM said WHERE ord = ? ORDER BY position");
  const text = (value: unknown): string => String(value);

  function orderOf(id: string): number | null {
    const row = placeOf.get(id);
    return row === undefined ? null : Number(row.ord);
  }

  function documentAt(order: number): RunDocument {
    try {
      const row = whole.get(order);
      if (row === undefined) throw new Error("parts of it are missing");
      const words = said.all(order).map((each) => text(each.words));
      return documentOf(text(row.run), text(row.rest), words);
    } catch (cause) {
      const id = text(query("SELECT id FROM run WHERE ord = ?", [order])[0]?.id);
      onBroken(id, cause);
      throw new BrokenDocument(`the document of run ${id} is damaged`, { cause });
    }
  }

  /** The run with this place in the order of creation; null if there is none or it can't be read. */
  function at(order: number): Run | null {
    const row = byOrder.get(order);
    if (row === undefined) return null;
    try {
      return runOf(text(row.run));
    } catch {
      // An earlier version may have written it. Only a whole document has its version.
      try {
        return documentAt(order).run;
      } catch {
        return null;
      }
    }
  }

  return {
    has: (id: string): boolean => orderOf(id) !== null,
    at,
    get(id: string): Run | null {
      const order = orderOf(id);
      return order === null ? null : at(order);
    },
    document(id: string): RunDocument | null {
      const order = orderOf(id);
      return order === null ? null : documentAt(order);
    },
    unfinished(): readonly { readonly id: string; readonly isQueued: boolean }[] {
      const rows = query(`SELECT id, state FROM run WHERE ${unfinished} ORDER BY queued`, []);
      return rows.map(({ id, state }) => ({ id: text(id), isQueued: state === "QUEUED" }));
    },
    unfinishedCount: (): number =>
      Number(query(`SELECT count(*) AS runs FROM run WHERE ${unfinished}`, [])[0]?.runs),
    nextQueued(except: ReadonlySet<string>): string | null {
      const sql = "SELECT id FROM run WHERE state = 'QUEUED' ORDER BY queued LIMIT ?";
      const next = query(sql, [except.size + 1]).find(({ id }) => !except.has(text(id)));
      return next === undefined ? null : text(next.id);
    },
    withArtifact(uid: string): string | null {
      const sql = "SELECT id FROM made JOIN run USING (ord) WHERE uid = ? AND uid <> '' LIMIT 1";
      const [row] = query(sql, [uid]);
      return row === undefined ? null : text(row.id);
    },
    latestOf(conversationId: string): string | null {
      const sql = `
        SELECT id FROM (
          SELECT id, ord FROM run WHERE conversation = ?
          UNION ALL SELECT id, ord FROM run WHERE id = ? AND conversation IS NULL
        ) ORDER BY ord DESC LIMIT 1`;
      const [row] = query(sql, [conversationId, conversationId]);
      return row === undefined ? null : text(row.id);
    },
    highestPlace(): number {
      const sql = `
        SELECT max(place) AS place FROM (
          SELECT max(ord) AS place FROM run UNION ALL SELECT max(queued) FROM run
          UNION ALL SELECT max(ord) FROM broken
        )`;
      return Number(query(sql, [])[0]?.place ?? 0);
    },
  };
}
