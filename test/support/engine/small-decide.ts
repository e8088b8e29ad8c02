import type { Decide } from "#core/decide/decide.ts";
import type { Effect } from "#core/effect.ts";
import type { PersonEvent } from "#core/event.ts";
import { refOf } from "#core/event.ts";
import type { Outcome } from "#core/outcome.ts";
import type { Person } from "#core/person.ts";
import { type CreateRequest, dispatchKey, isEnded, type Run } from "#core/run.ts";
import type { RunRecord, Thread } from "#core/thread.ts";

export const person: Person = { platform: "chat", id: "U1", name: "ann", bot: false };

export function newThread(id: string, more: Partial<Thread> = {}): Thread {
  return {
    version: 1,
    id,
    scope: "chat:room",
    places: id.startsWith("chat:") ? [id] : [],
    runs: [],
    decided: 0,
    effects: [],
    waiting: [],
    seen: [],
    said: [],
    muted: false,
    mutedUntil: null,
    changedAt: "2026-01-01T00:00:00.000Z",
    ...more,
  };
}

export const requestOf = (dispatch: string): CreateRequest => ({
  prompt: "fix it",
  title: "fix it",
  config: { name: "bot" },
  metadata: { [dispatchKey]: dispatch },
});

export function newRecord(dispatch: string, more: Partial<RunRecord> = {}): RunRecord {
  return {
    dispatch,
    runId: null,
    name: "bot",
    by: person,
    asked: dispatch,
    request: null,
    since: "2026-01-01T00:00:00.000Z",
    askedAt: null,
    open: true,
    run: null,
    told: null,
    reopened: false,
    delay: null,
    cancelling: false,
    failed: null,
    cards: {},
    ...more,
  };
}

export interface SmallDecide {
  readonly decide: Decide;
  /** All decided outcomes, saved or not. */
  readonly outcomes: { readonly effect: string; readonly outcome: Outcome }[];
  readonly runEvents: Run[];
  /** The effects of each event, by its id; none by default. */
  readonly asks: Map<string, readonly Effect[] | "ignore" | "again">;
  /** Fields for the record of a create effect, by dispatch. */
  readonly records: Map<string, Partial<RunRecord>>;
}

/**
 * Decides just enough for the engine: an event adds the effects that the test listed for it, an effect that
 * succeeds or is refused is dropped, and others are retried after a second, doubled each time.
 */
export function createSmallDecide(): SmallDecide {
  const outcomes: { effect: string; outcome: Outcome }[] = [];
  const runEvents: Run[] = [];
  const asks = new Map<string, readonly Effect[] | "ignore" | "again">();
  const records = new Map<string, Partial<RunRecord>>();

  function fromPerson(known: Thread | null, event: PersonEvent): ReturnType<Decide> {
    const asked = asks.get(event.id) ?? [];
    if (asked === "ignore" || asked === "again") return { kind: asked };
    const thread = known ?? newThread(refOf(event));
    if (thread.seen.includes(event.id)) return { kind: "keep", thread };
    const runs = asked.flatMap((effect) =>
      effect.kind === "create"
        ? [
            newRecord(effect.dispatch, {
              request: requestOf(effect.dispatch),
              ...records.get(effect.dispatch),
            }),
          ]
        : [],
    );
    return {
      kind: "keep",
      thread: {
        ...thread,
        seen: [...thread.seen, event.id],
        effects: [...thread.effects, ...asked],
        runs: [...thread.runs, ...runs],
      },
    };
  }

  function fromOutcome(thread: Thread, id: string, outcome: Outcome, now: number): Thread {
    const effect = thread.effects.find((pending) => pending.id === id);
    if (effect === undefined) return thread;
    const others = thread.effects.filter((pending) => pending.id !== id);
    if (!outcome.ok) {
      const { retryable, reason, retryAfterMs = 0 } = outcome.fault;
      if (!retryable) return { ...thread, effects: others, said: [...thread.said, reason] };
      const waitMs = Math.max(1_000 * 2 ** effect.tries, retryAfterMs);
      const later = {
        ...effect,
        tries: effect.tries + 1,
        notBefore: new Date(now + waitMs).toISOString(),
        waitMs,
      };
      return { ...thread, effects: thread.effects.map((pending) => (pending.id === id ? later : pending)) };
    }
    const newer =
      outcome.kind === "card" && effect.kind === "card" && outcome.revision < effect.revision ? [effect] : [];
    const runs = thread.runs.map((record) =>
      outcome.kind === "create" && effect.kind === "create" && record.dispatch === effect.dispatch
        ? { ...record, runId: outcome.runId }
        : record,
    );
    return { ...thread, runs, effects: [...newer, ...others] };
  }

  function fromRun(thread: Thread, run: Run): Thread {
    const { prompt: _, ...known } = run;
    const record = thread.runs.find(({ runId }) => runId === run.run_id);
    if (record === undefined || JSON.stringify(record.run) === JSON.stringify(known)) return thread;
    const next = { ...record, run: known, open: !isEnded(run.state) };
    return { ...thread, runs: thread.runs.map((other) => (other === record ? next : other)) };
  }

  return {
    outcomes,
    runEvents,
    asks,
    records,
    decide(thread, event, now) {
      switch (event.kind) {
        case "command":
        case "reply":
        case "button":
        case "label":
          return fromPerson(thread, event);
        case "moved":
          return { kind: "ignore" };
        case "outcome":
          outcomes.push({ effect: event.effect, outcome: event.outcome });
          if (thread === null) return { kind: "ignore" };
          return { kind: "keep", thread: fromOutcome(thread, event.effect, event.outcome, now) };
        case "run":
          runEvents.push(event.run);
          if (thread === null) return { kind: "ignore" };
          return { kind: "keep", thread: fromRun(thread, event.run) };
        default:
          return event satisfies never;
      }
    },
  };
}
