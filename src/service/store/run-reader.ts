import type { DatabaseSync } from "node:sqlite";
import { knownStates } from "#agent-runs/schema.ts";
import { BrokenDocument } from "#disk/durable-file.ts";
import type { Run, RunDocument } from "#service/run/run-document.ts";
import { createQueries } from "./run-queries.ts";
import { documentOf, runOf } from "./run-rows.ts";
import { answerOf, type RunAnswer, wireRowOf } from "./stored-answer.ts";

type State = Run["state"];

export interface Unfinished {
  readonly id: string;
  readonly state: State;
}

/** Reads what run-database.ts keeps. */
export interface RunReader {
  has(id: string): boolean;
  /** null if there is no such run, or it can't be read. */
  get(id: string): Run | null;
  /** What answers for the run; null as with `get`. */
  answer(id: string): RunAnswer | null;
  /** The run with that place in the order of creation; null as with `get`. */
  at(order: number): Run | null;
  /** null if there is no such run. Throws `BrokenDocument` if it can't be read. */
  document(id: string): RunDocument | null;
  /** The runs in these states, in the order of the queue. */
  inStates(states: readonly State[]): readonly Unfinished[];
  /** How many runs are in each state. */
  counts(): Map<State, number>;
  /** The first in the queue that is not one of these; null if there is none. */
  nextQueued(except: ReadonlySet<string>): string | null;
  /** The last run of the conversation; null if there is none. */
  latestOf(conversationId: string): string | null;
  /** The highest place in the order of creation or in the queue; 0 if there is none. */
  highestPlace(): number;
}

/** `onBroken` is told of a run that can't be read, each time. */
export function createRunReader(
  database: DatabaseSync,
  onBroken: (id: string, error: unknown) => void,
): RunReader {
  const query = createQueries(database);
  const placeOf = database.prepare("SELECT ord FROM run WHERE id = ?");
  const byId = database.prepare(
    "SELECT item.ord AS ord, item.run AS run FROM run JOIN item ON item.ord = run.ord WHERE id = ?",
  );
  const answering = database.prepare(`
    SELECT item.ord AS ord, wire, secret, tail, sum, run
    FROM run JOIN item ON item.ord = run.ord WHERE id = ?`);
  const byOrder = database.prepare("SELECT run FROM item WHERE ord = ?");
  const whole = database.prepare("SELECT run, rest FROM item WHERE ord = ?");
  const said = database.prepare("SELECT words FROM said WHERE ord = ? ORDER BY position");
  const text = (value: unknown): string => String(value);

  function documentAt(order: number): RunDocument {
    try {
      const row = whole.get(order);
      if (row === undefined) throw new Error("parts of it are not there");
      const words = said.all(order).map((each) => text(each.words));
      return documentOf(text(row.run), text(row.rest), words);
    } catch (cause) {
      const id = text(query("SELECT id FROM run WHERE ord = ?", [order])[0]?.id);
      onBroken(id, cause);
      throw new BrokenDocument(`run ${id} is not what belongs there`, { cause });
    }
  }

  /** The document tells whether it was only written by an earlier version. */
  function runIn(order: number, run: unknown): Run | null {
    try {
      return runOf(text(run));
    } catch {
      try {
        return documentAt(order).run;
      } catch {
        return null;
      }
    }
  }

  return {
    has: (id) => placeOf.get(id) !== undefined,
    get(id) {
      const row = byId.get(id);
      return row === undefined ? null : runIn(Number(row.ord), row.run);
    },
    answer(id) {
      const row = answering.get(id);
      if (row === undefined) return null;
      const ready = answerOf(id, row);
      if (ready !== null) return ready;
      const run = runIn(Number(row.ord), byOrder.get(Number(row.ord))?.run);
      return run === null ? null : answerOf(id, wireRowOf(run));
    },
    at(order) {
      const row = byOrder.get(order);
      return row === undefined ? null : runIn(order, row.run);
    },
    document(id) {
      const row = placeOf.get(id);
      return row === undefined ? null : documentAt(Number(row.ord));
    },
    inStates(states) {
      const sql = `SELECT id, state FROM run WHERE state IN (${states.map(() => "?").join()}) ORDER BY queued`;
      return query(sql, states).map(({ id, state }) => ({ id: text(id), state: stateOf(state) }));
    },
    counts() {
      const rows = query("SELECT state, count(*) AS runs FROM run GROUP BY state", []);
      return new Map(rows.map(({ state, runs }) => [stateOf(state), Number(runs)]));
    },
    nextQueued(except) {
      const sql = "SELECT id FROM run WHERE state = 'QUEUED' ORDER BY queued LIMIT ?";
      const next = query(sql, [except.size + 1]).find(({ id }) => !except.has(text(id)));
      return next === undefined ? null : text(next.id);
    },
    latestOf(conversationId) {
      const sql = `
        SELECT id FROM (
          SELECT id, ord FROM run WHERE conversation = ?
          UNION ALL SELECT id, ord FROM run WHERE id = ? AND conversation IS NULL
        ) ORDER BY ord DESC LIMIT 1`;
      const [row] = query(sql, [conversationId, conversationId]);
      return row === undefined ? null : text(row.id);
    },
    highestPlace() {
      const tops = knownStates.map((state) => `(SELECT max(queued) FROM run WHERE state = '${state}')`);
      const sql = `
        SELECT max(ifnull(place, 0)) AS place FROM (
          SELECT max(ord) AS place FROM run UNION ALL SELECT max(ord) FROM broken
          ${tops.map((top) => `UNION ALL SELECT ${top}`).join(" ")}
        )`;
      return Number(query(sql, [])[0]?.place ?? 0);
    },
  };
}

/** The states in a row are those that this service writes. */
function stateOf(value: unknown): State {
  const state = knownStates.find((known) => known === value);
  if (state === undefined) throw new Error(`there is no state ${String(value)}`);
  return state;
}
