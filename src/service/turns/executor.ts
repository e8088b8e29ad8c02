import { setTimeout as sleep } from "node:timers/promises";
import { BrokenDocument } from "#disk/durable-file.ts";
import { type Agent, answerOf } from "#service/agents/agent.ts";
import type { OutputLog } from "#service/files/output-log.ts";
import type { Prepared, Workplaces } from "#service/files/workplaces.ts";
import type { WorkOptions } from "#service/options.ts";
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
import type { TurnWork } from "./turn-work.ts";

/** The agents, folders and limits of the work. */
export interface ExecutorOptions
  extends Pick<WorkOptions, "runs" | "maxRuns" | "maxQueued" | "timeoutMs" | "now" | "log"> {
  readonly agentFor: (run: Run) => Agent;
  readonly workplaces: Workplaces;
  readonly turns: TurnWork;
  readonly outputs: OutputLog;
}

/** A run in one of the `maxRuns` slots. */
interface Work {
  /** Ends the turn or the preparation under way. */
  controller: AbortController;
  output: TextTail | null;
  timedOut: boolean;
  done: Promise<void>;
}

const mostTimerMs = 2 ** 31 - 1;
const mostPauseMs = 30_000;

/** Works on queued runs, turn by turn, `maxRuns` at a time. */
export type Executor = ReturnType<typeof createExecutor>;

export function createExecutor(options: ExecutorOptions) {
  const { runs, agentFor, workplaces, turns, outputs, maxRuns, maxQueued, now, log } = options;
  const timeoutMs = Math.min(options.timeoutMs, mostTimerMs);
  /** Runs that failed unexpectedly. This process does not try them again until they are queued again. */
  const failed = new Set<string>();
  const working = new Map<string, Work>();
  const stopping = new AbortController();
  let reserved = 0;

  /** Fills the free slots from the queue. */
  function fillSlots(): void {
    while (!stopping.signal.aborted && working.size < maxRuns) {
      const runId = runs.nextQueued(new Set([...working.keys(), ...failed]));
      if (runId === null) return;
      const controller = new AbortController();
      const work: Work = { controller, output: null, timedOut: false, done: Promise.resolve() };
      working.set(runId, work);
      work.done = workThrough(runId, work)
        .catch((error: unknown) => {
          failed.add(runId);
          log.error("a run could not be worked on", { runId, error });
        })
        .finally(() => {
          working.delete(runId);
          fillSlots();
        });
    }
  }

  /** Works turn after turn until no message waits. */
  async function workThrough(runId: string, work: Work): Promise<void> {
    const run = runs.get(runId);
    if (run === null) return;
    const agent = agentFor(run);
    await agent.prepare?.(work.controller.signal);
    while (!work.controller.signal.aborted) {
      const notes = await prepareFolder(run, work);
      if (notes === null) return;
      const document = await persist(runId, (before) => {
        const next = work.controller.signal.aborted ? null : begun(before, now(), notes);
        work.output = null;
        return { document: next ?? before, result: next };
      });
      if (!document?.result) return;
      const state = await workTurn(document.result, agent, work);
      if (state !== "INPROGRESS") return;
      if (!stopping.signal.aborted) work.controller = new AbortController();
    }
  }

  /** Prepares the run's folder and returns notes for the turn; null if the turn can't or must not begin. */
  async function prepareFolder(run: Run, work: Work): Promise<readonly string[] | null> {
    const { signal } = work.controller;
    let end: Prepared | { readonly kind: "broken" };
    try {
      if (await workplaces.needsPreparing(run)) {
        // A run whose folder was removed between two turns stays INPROGRESS.
        await persist(run.id, (before) => {
          const next = signal.aborted ? null : preparing(before);
          return { document: next ?? before, result: null };
        });
      }
      end = await withTimeout(work, () => workplaces.prepare(run, signal));
    } catch (error) {
      log.error("a run's folder could not be made", { runId: run.id, error });
      end = { kind: "broken" };
    }
    if (end.kind === "ready") return end.notes;
    // The run was cancelled. A follow-up may have queued it again since, so it must not end here.
    if (signal.aborted && !work.timedOut && !stopping.signal.aborted) return null;
    const outcome = unpreparedOutcome(run, end, work.timedOut);
    log.info("a run could not be prepared", { runId: run.id, outcome: outcome.kind });
    await persist(run.id, (before) => {
      const turn = begun(before, now());
      const document = turn === null ? before : turnEnded(turn, turn.turn, outcome, now());
      return { document, result: null };
    });
    return null;
  }

  function unpreparedOutcome(
    run: Run,
    end: Exclude<Prepared, { kind: "ready" }> | { readonly kind: "broken" },
    timedOut: boolean,
  ): TurnOutcome {
    const unprepared = (reason: string) => ({ kind: "unprepared", text: "", reason }) as const;
    switch (end.kind) {
      case "failed":
        return unprepared(turns.redacted(run, end.reason));
      case "broken":
        return { kind: "broken", text: "", reason: "The run's folder could not be made." };
      case "aborted":
        return timedOut
          ? unprepared(`The set-up was stopped after ${timeoutMs / 1000} seconds.`)
          : { kind: "interrupted", text: "" };
      default:
        return end satisfies never;
    }
  }

  /** Resolves with the run's state after the turn; null if it could not be saved before the service stopped. */
  async function workTurn(document: RunDocument, agent: Agent, work: Work): Promise<Run["state"] | null> {
    const { run, turn } = document;
    const output = turns.newOutput(run);
    work.output = output;
    log.info("a turn begins", { runId: run.id, turn });
    const { signal } = work.controller;
    const timeoutReason = (): string | null =>
      work.timedOut ? `The agent was stopped after ${timeoutMs / 1000} seconds.` : null;
    const { outcome, findings } = await withTimeout(work, () =>
      turns.work(document, agent, { signal, timeoutReason, output }),
    );
    const after = await persist(run.id, (before) => {
      const next = turnEnded(before, turn, outcome, now(), findings);
      return { document: next, result: next.run.state };
    });
    if (after !== null) await outputs.remove(run.id, turn).catch(() => undefined);
    log.info("a turn ended", { runId: run.id, turn, outcome: outcome.kind, state: after?.result });
    return after?.result ?? null;
  }

  /** Aborts the work at its time limit. */
  async function withTimeout<T>(work: Work, what: () => Promise<T>): Promise<T> {
    const { controller } = work;
    work.timedOut = false;
    const timer = setTimeout(() => {
      work.timedOut = true;
      controller.abort();
    }, timeoutMs);
    return what().finally(() => clearTimeout(timer));
  }

  /**
   * Repeats a change until it is saved, because a full disk must not leave a run without an end. null: there is no
   * such run, or the service stopped first. Rejects if the run's document is damaged, which no retry repairs.
   */
  async function persist<T>(
    runId: string,
    fn: (document: RunDocument) => { readonly document: RunDocument; readonly result: T },
  ): Promise<{ readonly result: T } | null> {
    for (let pauseMs = 500; ; pauseMs = Math.min(pauseMs * 2, mostPauseMs)) {
      try {
        return await runs.change(runId, fn);
      } catch (error) {
        if (error instanceof BrokenDocument) throw error;
        const { signal } = stopping;
        log.error("a run's change could not be saved", { runId, error, willRetry: !signal.aborted });
        if (signal.aborted) return null;
        await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  /** Ends a run that a killed service was working on. The output of its agent is kept. */
  async function recordInterruption(runId: string): Promise<void> {
    log.warn("a run was interrupted", { runId });
    const found = await runs.read(runId);
    if (found === null) return;
    const text = isTurnUnderWay(found) ? await turns.recoverOutput(found.run, found.turn) : null;
    await runs.change(runId, (before) => ({
      document:
        text === null
          ? interrupted(before, now())
          : turnEnded(before, found.turn, { kind: "interrupted", text }, now()),
      result: null,
    }));
  }

  return {
    /** Records the runs that an earlier process left unfinished as interrupted, and begins to work on the queue. */
    async recover(): Promise<void> {
      for (const { id, isQueued } of runs.unfinished()) {
        if (isQueued) continue;
        await recordInterruption(id).catch((error: unknown) => {
          // The store has set the damaged run aside, so it must not stop the service.
          if (!(error instanceof BrokenDocument)) throw error;
        });
      }
      await outputs.clear();
      fillSlots();
    },
    /** Reserves a place in the queue until it is released; null if the queue is full. */
    reserve(): { release(): void } | null {
      const waiting = Math.max(0, runs.unfinishedCount() - working.size);
      if (waiting + reserved >= maxQueued) return null;
      reserved++;
      return { release: () => void reserved-- };
    },
    /** To be called when a run has become QUEUED. */
    enqueue(runId: string): void {
      failed.delete(runId);
      fillSlots();
    },
    /** Cancels the run and ends its processes. Resolves when that is durable; null if there is no such run. */
    async cancel(runId: string): Promise<Cancelling["kind"] | null> {
      const change = await runs.change(runId, (before) => {
        const output = working.get(runId)?.output?.text() ?? "";
        const result = cancelled(before, answerOf(output).text, now());
        return { document: result.kind === "cancelled" ? result.document : before, result: result.kind };
      });
      if (change?.result === "cancelled") working.get(runId)?.controller.abort();
      return change?.result ?? null;
    },
    /** The agent's output in the turn under way; null if there is none. */
    live: (runId: string): string | null => working.get(runId)?.output?.text() ?? null,
    atCapacity: (): boolean => working.size >= maxRuns,
    isWorkingOn: (runId: string): boolean => working.has(runId),
    /** Ends every turn and begins no other. Resolves when that is durable and the processes have ended. */
    async stop(): Promise<void> {
      stopping.abort();
      for (const { controller } of working.values()) controller.abort();
      await Promise.all([...working.values()].map(({ done }) => done));
    },
  };
}
