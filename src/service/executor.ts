import { setTimeout as sleep } from "node:timers/promises";
import { type Agent, answerOf, type TurnEnd } from "./agent.ts";
import { BrokenDocument } from "./durable-file.ts";
import type { ServiceLog } from "./log.ts";
import type { RunDocument } from "./run-document.ts";
import { begun, type Cancelling, cancelled, interrupted, type TurnOutcome, turnEnded } from "./run-life.ts";
import type { RunStore } from "./run-store.ts";
import { createTextTail, type TextTail } from "./text-tail.ts";
import { turnInput } from "./turn-input.ts";
import type { makeWorkFolder } from "./work-folder.ts";

export interface ExecutorOptions {
  readonly runs: RunStore;
  readonly agent: Agent;
  /** Runs that are worked on at once. */
  readonly maxRuns: number;
  /** How long one turn may take. */
  readonly timeoutMs: number;
  readonly makeFolder: (run: RunDocument["run"]) => ReturnType<typeof makeWorkFolder>;
  readonly now: () => number;
  readonly log: ServiceLog;
}

export interface Executor {
  /** Tells what an earlier process left unfinished, and queues what it left queued. */
  recover(): Promise<void>;
  /** A QUEUED run stands in line from now on. */
  enqueue(runId: string): void;
  /** Cancels the run and ends its processes; null if there is no such run. Resolves when it is durable. */
  cancel(runId: string): Promise<Cancelling["kind"] | null>;
  /** What the agent wrote in the latest turn, for while that turn is under way; null if there is none. */
  live(runId: string): string | null;
  atCapacity(): boolean;
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

/** Most characters of one answer that are kept: its end. */
const mostAnswer = 250_000;
const mostTimerMs = 2 ** 31 - 1;
const mostPauseMs = 30_000;

export function createExecutor(options: ExecutorOptions): Executor {
  const { runs, agent, maxRuns, makeFolder, now, log } = options;
  const timeoutMs = Math.min(options.timeoutMs, mostTimerMs);
  /** Runs that could not be worked on: they are not tried again by this process. */
  const failed = new Set<string>();
  const working = new Map<string, Work>();
  const stopping = new AbortController();

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
    await agent.prepare?.(work.controller.signal);
    while (!work.controller.signal.aborted) {
      const document = await insist(() =>
        runs.change(runId, (before) => {
          const next = work.controller.signal.aborted ? null : begun(before, now());
          work.output = null;
          return { document: next ?? before, result: next };
        }),
      );
      if (!document?.result) return;
      const outcome = await workTurn(document.result, work);
      const { turn } = document.result;
      const after = await insist(() =>
        runs.change(runId, (before) => {
          const next = turnEnded(before, turn, outcome, now());
          return { document: next, result: next.run.state };
        }),
      );
      log.info("a turn ended", { runId, turn, outcome: outcome.kind, state: after?.result });
      if (after?.result !== "INPROGRESS") return;
      work.timedOut = false;
      if (!stopping.signal.aborted) work.controller = new AbortController();
    }
  }

  async function workTurn(document: RunDocument, work: Work): Promise<TurnOutcome> {
    const output = createTextTail(mostAnswer);
    work.output = output;
    const { run, turn } = document;
    const { controller } = work;
    const timer = setTimeout(() => {
      work.timedOut = true;
      controller.abort();
    }, timeoutMs);
    log.info("a turn begins", { runId: run.id, turn });
    try {
      const place = await makeFolder(run);
      const end = await agent.work(
        {
          runId: run.id,
          number: turn,
          ...place,
          ...turnInput(document),
          model: run.config.model_id ?? null,
          skill: run.skill,
          environmentId: run.config.environment_id ?? null,
        },
        controller.signal,
        output.add,
      );
      return outcomeOf(end, output.text(), work.timedOut);
    } catch (error) {
      log.error("a turn could not be worked on", { runId: run.id, turn, error });
      return { kind: "broken", text: output.text(), reason: "The agent could not be started." };
    } finally {
      clearTimeout(timer);
    }
  }

  function outcomeOf(end: TurnEnd, output: string, timedOut: boolean): TurnOutcome {
    const { text, asks } = answerOf(output);
    switch (end.kind) {
      case "finished":
        return { kind: asks ? "asked" : "answered", text };
      case "failed":
        return asks ? { kind: "asked", text } : { kind: "failed", text, reason: end.reason };
      case "broken":
        return { kind: "broken", text, reason: end.reason };
      case "aborted":
        return timedOut
          ? { kind: "failed", text, reason: `The agent was ended after ${timeoutMs / 1000} seconds.` }
          : { kind: "interrupted", text };
      default:
        return end satisfies never;
    }
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

  return {
    async recover() {
      for (const { id, state } of runs.unfinished()) {
        if (state === "QUEUED") continue;
        log.warn("a run was interrupted", { runId: id });
        await runs.change(id, (before) => ({ document: interrupted(before, now()), result: null }));
      }
      wake();
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
    async stop() {
      stopping.abort();
      for (const { controller } of working.values()) controller.abort();
      await Promise.all([...working.values()].map(({ done }) => done));
    },
  };
}
