import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "#base/log.ts";
import { BrokenDocument } from "#disk/durable-file.ts";
import { type Agent, answerOf } from "#service/agents/agent.ts";
import type { OutputLog } from "#service/files/output-log.ts";
import type { Prepared, Workplaces } from "#service/files/workplaces.ts";
import type { TextTail } from "#service/processes/text-tail.ts";
import type { Run, RunDocument } from "#service/run/run-document.ts";
import {
  begun,
  type Cancelling,
  cancelled,
  interrupted,
  isTurnUnderWay,
  preparing,
  type TurnOutcome,
  turnEnded,
} from "#service/run/run-life.ts";
import type { RunStore } from "#service/store/run-store.ts";
import type { TurnWork } from "./turn-work.ts";

export interface ExecutorOptions {
  readonly runs: RunStore;
  /** Who works on the run. */
  readonly agentFor: (run: Run) => Agent;
  readonly workplaces: Workplaces;
  readonly turns: TurnWork;
  readonly outputs: OutputLog;
  /** Runs that are worked on at once. */
  readonly maxRuns: number;
  /** New runs are refused while this many wait. */
  readonly maxQueued: number;
  /** How long one turn may take, and how long the preparation of its folder. */
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly log: Log;
}

export interface Executor {
  /** Tells what an earlier process left unfinished, and queues what it left queued. */
  recover(): Promise<void>;
  /** Room for one more run to wait, until it is given back; null if there is none. */
  reserve(): { release(): void } | null;
  /** A QUEUED run stands in line from now on. */
  enqueue(runId: string): void;
  /** Cancels the run and ends its processes; null if there is no such run. Resolves when it is durable. */
  cancel(runId: string): Promise<Cancelling["kind"] | null>;
  /** What the agent wrote in the latest turn, for while that turn is under way; null if there is none. */
  live(runId: string): string | null;
  atCapacity(): boolean;
  isWorkingOn(runId: string): boolean;
  /** Ends every turn and begins no other. Resolves when that is durable and the processes have ended. */
  stop(): Promise<void>;
}

/** A run that has one of the `maxRuns` slots. */
interface Work {
  controller: AbortController;
  output: TextTail | null;
  timedOut: boolean;
  done: Promise<void>;
}

const mostTimerMs = 2 ** 31 - 1;
const mostPauseMs = 30_000;

export function createExecutor(options: ExecutorOptions): Executor {
  const { runs, agentFor, workplaces, turns, outputs, maxRuns, maxQueued, now, log } = options;
  const timeoutMs = Math.min(options.timeoutMs, mostTimerMs);
  /** Runs that could not be worked on: they are not tried again by this process. */
  const failed = new Set<string>();
  const working = new Map<string, Work>();
  const stopping = new AbortController();
  let reserved = 0;

  function wake(): void {
    while (!stopping.signal.aborted && working.size < maxRuns) {
      const runId = runs.nextQueued(new Set([...working.keys(), ...failed]));
      if (runId === null) return;
      const work: Work = {
        controller: new AbortController(),
        output: null,
        timedOut: false,
        done: Promise.resolve(),
      };
      working.set(runId, work);
      work.done = workThrough(runId, work)
        .catch((error: unknown) => {
          failed.add(runId);
          log.error("a run could not be worked on", { runId, error });
        })
        .finally(() => {
          working.delete(runId);
          wake();
        });
    }
  }

  /** One turn after the other until no words wait. */
  async function workThrough(runId: string, work: Work): Promise<void> {
    const run = runs.get(runId);
    if (run === null) return;
    const agent = agentFor(run);
    await agent.prepare?.(work.controller.signal);
    while (!work.controller.signal.aborted) {
      const notes = await prepared(run, work);
      if (notes === null) return;
      const document = await insist(() =>
        runs.change(runId, (before) => {
          const next = work.controller.signal.aborted ? null : begun(before, now(), notes);
          work.output = null;
          return { document: next ?? before, result: next };
        }),
      );
      if (!document?.result) return;
      const state = await workTurn(document.result, agent, work);
      if (state !== "INPROGRESS") return;
      if (!stopping.signal.aborted) work.controller = new AbortController();
    }
  }

  /** Makes the run's folder ready. null: the run is not to be worked on, or can't be. */
  async function prepared(run: Run, work: Work): Promise<readonly string[] | null> {
    let end: Prepared | { readonly kind: "broken" };
    try {
      if (await workplaces.needsPreparing(run)) {
        // A run whose folder was removed while it is worked on stays INPROGRESS.
        await insist(() =>
          runs.change(run.id, (before) => {
            const next = work.controller.signal.aborted ? null : preparing(before);
            return { document: next ?? before, result: null };
          }),
        );
      }
      const { signal } = work.controller;
      end = await inTime(work, () => workplaces.prepare(run, signal));
    } catch (error) {
      log.error("a run's folder could not be made", { runId: run.id, error });
      end = { kind: "broken" };
    }
    if (end.kind === "ready") return end.notes;
    // Cancelled: it may stand in line anew by now, and is not to end for what ended before.
    if (work.controller.signal.aborted && !work.timedOut && !stopping.signal.aborted) return null;
    const outcome = unpreparedOutcome(run, end, work.timedOut);
    log.info("a run could not be prepared", { runId: run.id, outcome: outcome.kind });
    await insist(() =>
      runs.change(run.id, (before) => {
        const turn = begun(before, now());
        return {
          document: turn === null ? before : turnEnded(turn, turn.turn, outcome, now()),
          result: null,
        };
      }),
    );
    return null;
  }

  function unpreparedOutcome(
    run: Run,
    end: Exclude<Prepared, { kind: "ready" }> | { readonly kind: "broken" },
    late: boolean,
  ): TurnOutcome {
    switch (end.kind) {
      case "failed":
        return { kind: "unprepared", text: "", reason: turns.redacted(run, end.reason) };
      case "broken":
        return { kind: "broken", text: "", reason: "The run's folder could not be made." };
      case "aborted":
        return late
          ? {
              kind: "unprepared",
              text: "",
              reason: `The set-up was ended after ${timeoutMs / 1000} seconds.`,
            }
          : { kind: "interrupted", text: "" };
      default:
        return end satisfies never;
    }
  }

  /** Resolves with the run's state after the turn; null if that could not be saved. */
  async function workTurn(document: RunDocument, agent: Agent, work: Work): Promise<Run["state"] | null> {
    const { run, turn } = document;
    const output = turns.newOutput(run);
    work.output = output;
    log.info("a turn begins", { runId: run.id, turn });
    const { signal } = work.controller;
    const lateness = (): string | null =>
      work.timedOut ? `The agent was ended after ${timeoutMs / 1000} seconds.` : null;
    const { outcome, findings } = await inTime(work, () =>
      turns.work(document, agent, { signal, lateness, output }),
    );
    const after = await insist(() =>
      runs.change(run.id, (before) => {
        const next = turnEnded(before, turn, outcome, now(), findings);
        return { document: next, result: next.run.state };
      }),
    );
    if (after !== null) await outputs.remove(run.id, turn).catch(() => undefined);
    log.info("a turn ended", { runId: run.id, turn, outcome: outcome.kind, state: after?.result });
    return after?.result ?? null;
  }

  /** Aborts what is done when its time is over. */
  async function inTime<T>(work: Work, what: () => Promise<T>): Promise<T> {
    const { controller } = work;
    work.timedOut = false;
    const timer = setTimeout(() => {
      work.timedOut = true;
      controller.abort();
    }, timeoutMs);
    return what().finally(() => clearTimeout(timer));
  }

  /** A full disk must not leave a run without an end: tried until it succeeds, or the service stops. */
  async function insist<T>(work: () => Promise<T>): Promise<T | null> {
    for (let pauseMs = 500; ; pauseMs = Math.min(pauseMs * 2, mostPauseMs)) {
      try {
        return await work();
      } catch (error) {
        // What a document has lost does not come back by waiting.
        if (error instanceof BrokenDocument) throw error;
        const { signal } = stopping;
        log.error("a run's change could not be saved", { error, willRetry: !signal.aborted });
        if (signal.aborted) return null;
        await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  /** A run that a killed service left: what its agent had written is kept. */
  async function tellInterruption(runId: string): Promise<void> {
    log.warn("a run was interrupted", { runId });
    const left = await runs.read(runId);
    if (left === null) return;
    const text = isTurnUnderWay(left) ? await turns.recoverOutput(left.run, left.turn) : null;
    await runs.change(runId, (before) => ({
      document:
        text === null
          ? interrupted(before, now())
          : turnEnded(before, left.turn, { kind: "interrupted", text }, now()),
      result: null,
    }));
  }

  const waiting = (): number => Math.max(0, runs.unfinishedCount() - working.size);

  return {
    async recover() {
      for (const { id, state } of runs.unfinished()) {
        if (state !== "QUEUED") await tellInterruption(id);
      }
      await outputs.clear();
      wake();
    },
    reserve() {
      if (waiting() + reserved >= maxQueued) return null;
      reserved++;
      let held = true;
      return {
        release() {
          if (held) reserved--;
          held = false;
        },
      };
    },
    enqueue(runId) {
      failed.delete(runId);
      wake();
    },
    async cancel(runId) {
      const change = await runs.change(runId, (before) => {
        const live = working.get(runId)?.output?.text() ?? "";
        const result = cancelled(before, answerOf(live).text, now());
        return { document: result.kind === "cancelled" ? result.document : before, result: result.kind };
      });
      if (change?.result === "cancelled") working.get(runId)?.controller.abort();
      return change?.result ?? null;
    },
    live: (runId) => working.get(runId)?.output?.text() ?? null,
    atCapacity: () => working.size >= maxRuns,
    isWorkingOn: (runId) => working.has(runId),
    async stop() {
      stopping.abort();
      for (const { controller } of working.values()) controller.abort();
      await Promise.all([...working.values()].map(({ done }) => done));
    },
  };
}
