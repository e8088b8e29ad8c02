import { backoffMs } from "#base/backoff.ts";
import type { Log } from "#base/log.ts";
import { reasonOf } from "#base/reason.ts";
import type { Decide } from "#core/decide/decide.ts";
import { toApi, toEngine } from "#core/effect.ts";
import type { PlatformEvent } from "#core/event.ts";
import type { Outcome } from "#core/outcome.ts";
import type { Ref, Scope } from "#core/place.ts";
import { isSettled, type Thread } from "#core/thread.ts";
import type { EngineEvent, Observe } from "#engine/base/engine-event.ts";
import { defaultLimits, type Limits } from "#engine/base/limits.ts";
import { createTimers } from "#engine/base/timers.ts";
import { createOpenRuns } from "#engine/follow/open-runs.ts";
import { createPoller, type SweepHealth } from "#engine/follow/poll.ts";
import { createDeliver, createReceiveRun } from "#engine/follow/receive-run.ts";
import { createSweeper } from "#engine/follow/sweep.ts";
import { systemOf } from "#engine/perform/destination.ts";
import { createLanes } from "#engine/perform/lanes.ts";
import { createPerformEffect } from "#engine/perform/perform-effect.ts";
import { createSaveOutcome } from "#engine/perform/save-outcome.ts";
import { createTurns } from "#engine/perform/turns.ts";
import type { Accept, AgentRuns, Clock, Factories, Notes, Platform, Store, Transcripts } from "#ports.ts";
import { createAccepting } from "./accept.ts";
import { createCatchUp } from "./catch-up.ts";
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
  readonly catchUp?: { readonly notes: Notes; readonly intervalMs: number; readonly livelyMs?: number };
  /** Called with each event of the engine, for metrics. */
  readonly observe?: Observe;
}

/** Numbers for the status page. */
export interface EngineStatus {
  /** Threads with an effect to perform or an unfinished run. */
  readonly unsettled: number;
  /** Effects to perform, without those that are held or wait for a held one. */
  readonly pendingEffects: number;
  /** Number of effects held for each platform that is not set up, by its name. */
  readonly held: ReadonlyMap<string, number>;
  /** What can't be read back of the time while the bot was away, in sentences, by the platform's name. */
  readonly gaps: ReadonlyMap<string, readonly string[]>;
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
  /**
   * Loads the unsettled threads, then starts performing and polling; threads that can't be read now are loaded later.
   * Rejects like the store.
   */
  start(): Promise<void>;
  /** Lets no accepted event wait any longer for what it belongs to: a stop follows. */
  drain(): void;
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
  const platforms = new Map(options.platforms.map((platform) => [platform.name, platform]));
  const timers = createTimers(clock);
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
    if (openRuns.onSaved(thread, thread === before)) poller.wake();
    lanes.onSaved(thread, before);
    accepting.onSaved(thread);
    catchUp?.onSaved(thread);
  }

  const save = createSave({
    ...options,
    onSaved(thread, before) {
      changedMeanwhile?.add(thread.id);
      onSaved(thread, before);
    },
  });
  const keepScope = async (scope: Scope): Promise<void> => catchUp?.keepScope(scope);
  const accepting = createAccepting({ store, save, keepScope, timers, clock, log, observe });
  const openRuns = createOpenRuns(clock, timers);
  const deliver = createDeliver(openRuns, save);
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
  const turns = createTurns({
    perKind: limits.perSystem,
    pacesOf: (effect) => (limits.paced && platforms.get(systemOf(effect))?.paces?.(effect)) || [],
    timers,
    clock,
  });
  const lanes = createLanes({
    perform: createPerformEffect({
      api: { ...options, deliver, searches: new Map() },
      platforms,
      save,
      timers,
      limitMs: limits.effectMs,
      limitedForMs: turns.limitedForMs,
    }),
    saveOutcome: createSaveOutcome({ save, store, timers, clock, log }),
    turns,
    isSetUp: (system) => system === toApi || system === toEngine || platforms.has(system),
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
      save: accepting.take,
      timers,
      clock,
      log,
    });

  /** Resolves with whether every unsettled thread is loaded: some may be unreadable for now. */
  async function load(): Promise<boolean> {
    const meanwhile = new Set<Ref>();
    const scopes = new Set<Scope>();
    changedMeanwhile = meanwhile;
    try {
      for await (const thread of store.unsettled()) {
        scopes.add(thread.scope);
        if (!meanwhile.has(thread.id) && !unsettled.has(thread.id)) onSaved(thread, thread);
      }
      return true;
    } catch (error) {
      if (!(error instanceof Error && "leftOut" in error)) throw error;
      log.error("Some unsettled threads can't be read and wait", { leftOut: error.leftOut, error });
      return false;
    } finally {
      changedMeanwhile = null;
      await keepScopes(scopes);
    }
  }

  /** Saves the scopes again: the last process may have died between saving an event and its scope. */
  async function keepScopes(scopes: ReadonlySet<Scope>): Promise<void> {
    for (const scope of scopes) {
      try {
        await keepScope(scope);
      } catch (error) {
        log.warn("A scope could not be saved", { scope, reason: reasonOf(error) });
      }
    }
  }

  async function loadTheRest(): Promise<void> {
    for (let failures = 1; ; failures += 1) {
      await timers.sleep(backoffMs(failures, 1_000, 5 * 60_000, clock.random()));
      if (stopping !== null) return;
      try {
        if (await load()) return;
      } catch (error) {
        if (stopping !== null) return;
        log.error("The unsettled threads can't be read", { error });
      }
    }
  }

  async function start(): Promise<void> {
    const isComplete = await load();
    if (stopping !== null) return;
    lanes.open();
    poller.open();
    await catchUp?.open();
    if (!isComplete) void loadTheRest();
  }

  async function finish(): Promise<void> {
    const ended = Promise.all([accepting.close(), lanes.close(), poller.close(), catchUp?.close()]);
    await Promise.race([ended, timers.sleep(limits.stopMs)]);
    timers.close();
  }

  return {
    accept: accepting.accept,
    start,
    drain: accepting.drain,
    stop() {
      stopping ??= finish();
      return stopping;
    },
    status: () => ({
      unsettled: unsettled.size,
      pendingEffects: lanes.pendingEffects(),
      held: lanes.held(),
      gaps: catchUp?.gaps() ?? new Map(),
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
