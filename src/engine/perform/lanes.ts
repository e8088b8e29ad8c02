import { backoffMs } from "#base/backoff.ts";
import { createInFlight } from "#base/in-flight.ts";
import type { Log } from "#base/log.ts";
import { type Effect, isWatch } from "#core/effect.ts";
import type { Outcome } from "#core/outcome.ts";
import type { Ref } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import type { Observe } from "#engine/base/engine-event.ts";
import type { Timers } from "#engine/base/timers.ts";
import type { Attempt, Clock } from "#ports.ts";
import { firstByDestination, systemOf } from "./destination.ts";
import type { PerformEffect } from "./perform-effect.ts";
import type { SaveOutcome } from "./save-outcome.ts";
import type { Turns } from "./turns.ts";
import { createWaits, type Waits } from "./waits.ts";

/** One destination of one thread. Its effects are performed in order, one at a time. */
interface Lane {
  /** An effect is waiting for its turn, being performed, or having its outcome saved. */
  busy: boolean;
  callOff: () => void;
  /** Number of outcomes in a row that left their effect unchanged. */
  stuck: number;
  /** By `Clock.elapsed`. */
  notBefore: number;
}

interface Work {
  thread: Thread;
  /** When this process first saw each effect that no other has tried, by `Clock.elapsed`. */
  readonly freshAt: Map<string, number>;
  /** When the latest doubt about an effect arose, by `Clock.elapsed`: its settling time begins there. */
  readonly doubts: Map<string, number>;
  readonly waits: Waits;
  readonly lanes: Map<string, Lane>;
}

/** Performs the effects of all threads. */
export interface Lanes {
  /** Updates the saved thread. Effects of `before` that are new here may already have been tried. */
  onSaved(thread: Thread, before: Thread | null): void;
  /** Starts performing. */
  open(): void;
  /** Starts nothing more; resolves when all effects in flight have ended and their outcomes are saved. */
  close(): Promise<void>;
  /** Number of effects to perform, without those that are held, wait for a held one, or look for twins. */
  pendingEffects(): number;
  /** Number of effects held for each system that is not set up. */
  held(): ReadonlyMap<string, number>;
  inFlight(): number;
}

const stuckFirstMs = 1_000;
const stuckMostMs = 60_000;

/** Creates the lanes, which work on the threads as last saved. */
export function createLanes(options: {
  readonly perform: PerformEffect;
  readonly saveOutcome: SaveOutcome;
  readonly turns: Turns;
  /** Returns whether the system is set up; the effects of the others are held, and don't age. */
  readonly isSetUp: (system: string) => boolean;
  /** Returns the settling time of a system. */
  readonly settlingMsOf: (system: string) => number;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Log;
  readonly observe: Observe;
  /** Called with each saved outcome. */
  readonly onOutcome: (effect: Effect, outcome: Outcome) => void;
  /** Called for a thread that the store no longer has. */
  readonly onGone: (thread: Ref) => void;
}): Lanes {
  const { perform, saveOutcome, turns, isSetUp, settlingMsOf, timers, clock, log, observe } = options;
  const { onOutcome, onGone } = options;
  const inFlight = createInFlight();
  const works = new Map<Ref, Work>();
  let open = false;
  let performing = 0;

  const readyAt = (work: Work, effect: Effect, lane: Lane): number =>
    Math.max(work.waits.endOf(effect), lane.notBefore);

  function look(work: Work): void {
    if (!open) return;
    const firsts = firstByDestination(work.thread.effects);
    for (const [to, effect] of firsts) {
      if (!isSetUp(systemOf(effect))) continue;
      const lane = work.lanes.get(to) ?? { busy: false, callOff: () => {}, stuck: 0, notBefore: 0 };
      work.lanes.set(to, lane);
      if (lane.busy) continue;
      lane.callOff();
      const waitMs = readyAt(work, effect, lane) - clock.elapsed();
      if (waitMs > 0) {
        lane.callOff = timers.after(waitMs, () => look(work));
      } else {
        lane.busy = true;
        const line = turns.lineOf(effect);
        turns.ask(effect, () => takeTurn(work, to, lane, line));
      }
    }
    for (const [to, lane] of work.lanes) {
      if (lane.busy || firsts.has(to)) continue;
      lane.callOff();
      work.lanes.delete(to);
    }
    if (work.lanes.size === 0 && work.thread.effects.length === 0) works.delete(work.thread.id);
  }

  /** Returns the outcome, or null if the turn is not needed any more; the lane stays busy until it is saved. */
  function takeTurn(work: Work, to: string, lane: Lane, line: string): Promise<Outcome> | null {
    // The effect may have been replaced or postponed while it waited for its turn.
    const effect = open ? firstByDestination(work.thread.effects).get(to) : undefined;
    const isDue = effect !== undefined && readyAt(work, effect, lane) <= clock.elapsed();
    if (!isDue || turns.lineOf(effect) !== line) {
      lane.busy = false;
      queueMicrotask(() => look(work));
      return null;
    }
    const uncertain = effect.uncertain === true || work.doubts.has(effect.id);
    const freshAt = work.freshAt.get(effect.id);
    const attempt = {
      uncertain,
      settlesInMs: uncertain ? settlesInMs(work, effect) : 0,
      ...(freshAt === undefined ? {} : { ageMs: clock.elapsed() - freshAt }),
    };
    const trying = measured(effect, perform(effect, work.thread, attempt));
    void inFlight.track(trying.then((outcome) => finish(work, lane, effect, attempt, outcome)));
    return trying;
  }

  async function measured(effect: Effect, trying: Promise<Outcome>): Promise<Outcome> {
    const began = clock.elapsed();
    performing += 1;
    const outcome = await trying;
    performing -= 1;
    const { ok } = outcome;
    const system = systemOf(effect);
    observe({ kind: "performed", effect: effect.kind, system, ok, durationMs: clock.elapsed() - began });
    return outcome;
  }

  function settlesInMs(work: Work, effect: Effect): number {
    const since = work.doubts.get(effect.id) ?? clock.elapsed();
    return Math.max(since + settlingMsOf(systemOf(effect)) - clock.elapsed(), 0);
  }

  async function finish(
    work: Work,
    lane: Lane,
    effect: Effect,
    attempt: Attempt,
    outcome: Outcome,
  ): Promise<void> {
    if (!outcome.ok) {
      const { certainty, searching, mayStillHappen } = outcome.fault;
      if (certainty === "unknown" && (!searching || mayStillHappen)) {
        work.doubts.set(effect.id, clock.elapsed());
      }
      const { id, kind, tries } = effect;
      const { retryable, reason, code } = outcome.fault;
      const fields = { effect: id, kind, tries, certainty, code, reason };
      if (retryable) log.info("An effect did not succeed yet", fields);
      else log.warn("An effect failed", fields);
    }
    const saved = await saveOutcome(work.thread.id, effect, outcome, attempt);
    // The effect stays in the store; the next start searches for its result.
    if (saved === "closed") return;
    if (saved === "gone") {
      works.delete(work.thread.id);
      for (const other of work.lanes.values()) other.callOff();
      onGone(work.thread.id);
      return;
    }
    const left = work.thread.effects.find(({ id }) => id === effect.id);
    if (left !== undefined && sameTry(left, effect)) {
      // The decision ignored the outcome; an immediate retry would loop.
      lane.stuck += 1;
      lane.notBefore = clock.elapsed() + backoffMs(lane.stuck, stuckFirstMs, stuckMostMs, clock.random());
      if (lane.stuck === 1) log.error("An outcome left its effect unchanged", { effect: effect.id });
    } else {
      lane.stuck = 0;
      lane.notBefore = 0;
    }
    lane.busy = false;
    onOutcome(effect, outcome);
    look(work);
  }

  const newWork = (thread: Thread): Work => ({
    thread,
    freshAt: new Map(),
    doubts: new Map(),
    waits: createWaits(clock),
    lanes: new Map(),
  });

  return {
    onSaved(thread, before) {
      const known = works.get(thread.id);
      if (known === undefined && thread.effects.length === 0) return;
      const work = known ?? newWork(thread);
      // Of what another process left, only the first effect toward each destination may have been tried.
      const left = firstByDestination(before?.effects ?? []).values();
      const earlier = new Set(
        (known === undefined ? [...left] : [...(before?.effects ?? []), ...known.thread.effects]).map(
          ({ id }) => id,
        ),
      );
      const present = new Set(thread.effects.map(({ id }) => id));
      for (const id of present) if (!earlier.has(id)) work.freshAt.set(id, clock.elapsed());
      for (const ids of [work.freshAt, work.doubts]) {
        for (const id of ids.keys()) if (!present.has(id)) ids.delete(id);
      }
      for (const id of present) {
        if (!work.freshAt.has(id) && !work.doubts.has(id)) work.doubts.set(id, clock.elapsed());
      }
      work.waits.update(thread.effects);
      work.thread = thread;
      works.set(thread.id, work);
      look(work);
    },
    open() {
      open = true;
      for (const work of [...works.values()]) look(work);
    },
    async close() {
      open = false;
      await inFlight.idle();
    },
    pendingEffects: () =>
      [...works.values()].reduce((sum, { thread }) => sum + performable(thread, isSetUp).length, 0),
    held() {
      const counts = new Map<string, number>();
      for (const { thread } of works.values()) {
        for (const effect of thread.effects) {
          const system = systemOf(effect);
          if (!isSetUp(system) && !isWatch(effect)) counts.set(system, (counts.get(system) ?? 0) + 1);
        }
      }
      return counts;
    },
    inFlight: () => performing,
  };
}

/** Returns the effects that nothing but time holds back, without those that look for twins. */
function performable({ effects }: Thread, isSetUp: (system: string) => boolean): readonly Effect[] {
  const held = new Set<string>();
  return effects.filter((effect) => {
    // An effect is decided after the one that it waits for.
    const isHeld = !isSetUp(systemOf(effect)) || (effect.after !== undefined && held.has(effect.after));
    if (isHeld) held.add(effect.id);
    return !isHeld && !isWatch(effect);
  });
}

const revisionOf = (effect: Effect): number => ("revision" in effect ? effect.revision : 0);

const sameTry = (one: Effect, other: Effect): boolean =>
  one.tries === other.tries && one.notBefore === other.notBefore && revisionOf(one) === revisionOf(other);
