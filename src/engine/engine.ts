import { createInFlight } from "#base/in-flight.ts";
import type { Log } from "#base/log.ts";
import type { Decide } from "#core/decide/decide.ts";
import type { PlatformEvent } from "#core/event.ts";
import type { Outcome } from "#core/outcome.ts";
import type { Ref } from "#core/place.ts";
import { isSettled, type Thread } from "#core/thread.ts";
import type { EngineEvent, Observe } from "#engine/base/engine-event.ts";
import { defaultLimits, type Limits } from "#engine/base/limits.ts";
import { createTimers } from "#engine/base/timers.ts";
import { createOpenRuns } from "#engine/follow/open-runs.ts";
import { createPoller, type SweepHealth } from "#engine/follow/poll.ts";
import { createReceiveRun, type Deliver } from "#engine/follow/receive-run.ts";
import { createSweeper } from "#engine/follow/sweep.ts";
import { createLanes } from "#engine/perform/lanes.ts";
import { createPerformEffect } from "#engine/perform/perform-effect.ts";
import { createSaveOutcome } from "#engine/perform/save-outcome.ts";
import type { Accept, AgentRuns, Clock, Factories, Notes, Platform, Store, Transcripts } from "#ports.ts";
import { createCatchUp } from "./catch-up.ts";
import { EngineStopped } from "./engine-stopped.ts";
import { createSave } from "./save.ts";

/** The engine's dependencies and settings. */
export interface EngineOptions {
  readonly store: Store;
  readonly agentRuns: AgentRuns;
  readonly transcripts: Transcripts;
  readonly factories: Factories;
  readonly platforms: readonly Platform[];
  readonly decide: Decide;
  readonly clock: Clock;
  readonly log: Log;
  /** Config name of the bot's runs. */
  readonly runName: string;
  /** The shortest tick of the poller. */
  readonly pollIntervalMs: number;
  readonly limits?: Partial<Limits>;
  /** Recovers missed events at the start and every `intervalMs`; absent: never. */
  readonly catchUp?: { readonly notes: Notes; readonly intervalMs: number };
  /** Called with each event of the engine, for metrics. */
  readonly observe?: Observe;
}

/** Numbers for the status page. */
export interface EngineStatus {
  /** Threads with an effect to perform or an unfinished run. */
  readonly unsettled: number;
  readonly pendingEffects: number;
  readonly unfinishedRuns: number;
  /** Effects that are being performed. */
  readonly inFlight: number;
  /** null before the first sweep; `at` in milliseconds since the epoch. */
  readonly lastSweep: SweepHealth | null;
}

/** Saves events, performs effects and follows runs. */
export interface Engine {
  /** See `Accept`. Rejects with `EngineStopped` after `stop`. */
  readonly accept: Accept<PlatformEvent>;
  /** Loads the unsettled threads, then starts performing and polling. Rejects like the store. */
  start(): Promise<void>;
  /** Starts nothing more; resolves when all work in flight has ended, or after `limits.stopMs`. */
  stop(): Promise<void>;
  status(): EngineStatus;
}

/** Creates the engine. It saves events before acknowledging them, and effects before performing them. */
export function createEngine(options: EngineOptions): Engine {
  const { store, agentRuns, clock, log, runName, pollIntervalMs } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const platformsMs = options.platforms.map(({ name, settlingMs = 0 }) => [name, settlingMs] as const);
  const settlingMs: Readonly<Record<string, number>> = {
    ...Object.fromEntries(platformsMs),
    ...defaultLimits.settlingMs,
    ...options.limits?.settlingMs,
  };
  const timers = createTimers(clock);
  const accepting = createInFlight();
  const unsettled = new Set<Ref>();
  /** During loading: threads that an event has changed, so that a loaded copy is outdated. */
  let changedMeanwhile: Set<Ref> | null = null;
  let stopping: Promise<void> | null = null;

  function observe(event: EngineEvent): void {
    try {
      options.observe?.(event);
    } catch {
      // A defect in the metrics must not disturb the work.
    }
  }

  function onSaved(thread: Thread, before: Thread | null): void {
    if (isSettled(thread)) unsettled.delete(thread.id);
    else unsettled.add(thread.id);
    if (openRuns.onSaved(thread)) poller.wake();
    lanes.onSaved(thread, before);
    catchUp?.onSaved(thread);
  }

  const save = createSave({
    ...options,
    onSaved(thread, before) {
      changedMeanwhile?.add(thread.id);
      onSaved(thread, before);
    },
  });
  const openRuns = createOpenRuns(clock, timers);
  const deliver: Deliver = async (event) => (await save(event)).thread !== null;
  const poller = createPoller({
    sweeper: createSweeper({
      agentRuns,
      openRuns,
      receive: createReceiveRun({ openRuns, deliver, clock, log }),
      clock,
      log,
      runName,
      fetchIntervalMs: pollIntervalMs,
      stopped: () => stopping !== null,
    }),
    openRuns,
    timers,
    clock,
    log,
    intervalMs: pollIntervalMs,
    observe,
  });
  const lanes = createLanes({
    perform: createPerformEffect({
      api: { ...options, deliver },
      platforms: options.platforms,
      save,
      timers,
      limitMs: limits.effectMs,
    }),
    saveOutcome: createSaveOutcome({ save, store, timers, clock, log }),
    perSystem: limits.perSystem,
    settlingMsOf: (system) => settlingMs[system] ?? 0,
    timers,
    clock,
    log,
    observe,
    onOutcome(effect, outcome) {
      const twins = twinsEnded(outcome);
      if (twins > 0) observe({ kind: "twins", of: effect.kind, count: twins });
      if (outcome.ok && (effect.kind === "follow-up" || effect.kind === "cancel")) poller.wake();
    },
    onGone: (thread) => unsettled.delete(thread),
  });

  const catchUp =
    options.catchUp &&
    createCatchUp({
      ...options.catchUp,
      platforms: options.platforms,
      save,
      timers,
      clock,
      log,
    });

  const accept: Accept<PlatformEvent> = async (event) => {
    if (stopping !== null) throw new EngineStopped();
    const began = clock.now();
    const measure = (answer: "saved" | "ignored" | "again" | "failed"): void =>
      observe({ kind: "accepted", event: event.kind, answer, durationMs: clock.now() - began });
    try {
      const { answer } = await accepting.track(save(event));
      // `unknown` occurs only for hand-overs.
      const known = answer === "unknown" ? "ignored" : answer;
      measure(known);
      return known;
    } catch (error) {
      measure("failed");
      throw error;
    }
  };

  async function start(): Promise<void> {
    const meanwhile = new Set<Ref>();
    changedMeanwhile = meanwhile;
    try {
      for await (const thread of store.unsettled()) if (!meanwhile.has(thread.id)) onSaved(thread, thread);
    } finally {
      changedMeanwhile = null;
    }
    if (stopping !== null) return;
    lanes.open();
    poller.open();
    catchUp?.open();
  }

  async function finish(): Promise<void> {
    const ended = Promise.all([accepting.idle(), lanes.close(), poller.close(), catchUp?.close()]);
    await Promise.race([ended, timers.sleep(limits.stopMs)]);
    timers.close();
  }

  return {
    accept,
    start,
    stop() {
      stopping ??= finish();
      return stopping;
    },
    status: () => ({
      unsettled: unsettled.size,
      pendingEffects: lanes.pendingEffects(),
      unfinishedRuns: openRuns.size(),
      inFlight: lanes.inFlight(),
      lastSweep: poller.lastSweep(),
    }),
  };
}

/** Returns the number of twins that the effect has ended, or found where they can't be ended. */
function twinsEnded(outcome: Outcome): number {
  if (!outcome.ok) return 0;
  if (outcome.kind === "twin-messages") return Math.max(outcome.times - 1, 0);
  return outcome.kind === "twin-runs" || outcome.kind === "twin-posts" ? outcome.ended.length : 0;
}
