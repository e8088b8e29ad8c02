import type { Effect, PlatformEffect } from "#core/effect.ts";
import type { Outcome } from "#core/outcome.ts";
import type { Timers } from "#engine/base/timers.ts";
import type { Clock, Pace } from "#ports.ts";
import { isUpkeep, limitOf, systemOf } from "./destination.ts";
import { createPaces } from "./paces.ts";

/** Lets effects begin as slots, rate limits and paces allow. */
export interface Turns {
  /** Returns the line in which the effect waits: effects of one line keep the same limits. */
  lineOf(effect: Effect): string;
  /**
   * Calls `begin` as soon as the effect may begin, possibly at once; earlier effects of its line go first. `begin`
   * returns the outcome, or null if the turn is not needed any more; it neither throws nor rejects.
   */
  ask(effect: Effect, begin: () => Promise<Outcome> | null): void;
  /** Returns the milliseconds that a rate limit, perhaps met since the effect began, still forbids its request. */
  limitedForMs(effect: Effect): number;
}

type Begin = () => Promise<Outcome> | null;

interface Waiter {
  readonly number: number;
  readonly begin: Begin;
}

/** Effects with the same limits, in the order of their asking. */
interface Line {
  readonly key: string;
  readonly gate: Gate;
  readonly paces: readonly Pace[];
  readonly waiters: Waiter[];
}

/** The slots and the rate limit of one kind of effect at one system. */
interface Gate {
  readonly slots: number;
  running: number;
  /** The lines with a waiter whose pace, as far as known, allows it to begin; they take turns. */
  readonly ready: Line[];
  /** Set from a rate limit until an effect succeeds after it: till then one effect at a time is tried. */
  limit: { until: number; trying: boolean } | null;
  callOff: () => void;
}

const defaultPauseMs = 1_000;

/**
 * Creates the turns; `perKind` effects of one kind may be under way at each system, a quarter of them if they only keep
 * things up to date: under load, of several edits of a card the last is sent, while nobody's request waits.
 */
export function createTurns(options: {
  readonly perKind: number;
  readonly pacesOf: (effect: PlatformEffect) => readonly Pace[];
  readonly timers: Timers;
  readonly clock: Clock;
}): Turns {
  const { perKind, pacesOf, timers, clock } = options;
  const gates = new Map<string, Gate>();
  const lines = new Map<string, Line>();
  const paces = createPaces<Line>({
    timers,
    clock,
    wake(woken) {
      // Lines that share a pace may belong to several gates: the longest waiting comes first.
      for (const line of woken.sort((one, other) => numberOf(one) - numberOf(other))) {
        line.gate.ready.push(line);
        serve(line.gate);
      }
    },
  });
  let asked = 0;

  const pacesAt = (effect: Effect): readonly Pace[] =>
    "at" in effect
      ? pacesOf(effect).map((pace) => ({ ...pace, key: `${systemOf(effect)} ${pace.key}` }))
      : [];
  const keyOf = (limit: string, kept: readonly Pace[]): string =>
    kept.length === 0 ? limit : `${limit} ${JSON.stringify(kept)}`;

  function gateOf(effect: Effect): Gate {
    const name = limitOf(effect);
    const slots = isUpkeep(effect) ? Math.ceil(perKind / 4) : perKind;
    const gate = gates.get(name) ?? { slots, running: 0, ready: [], limit: null, callOff: () => {} };
    gates.set(name, gate);
    return gate;
  }

  /** Returns whether an effect may begin now; arranges another look if a rate limit is all that prevents it. */
  function isOpen(gate: Gate): boolean {
    if (gate.running >= gate.slots) return false;
    if (gate.limit === null) return true;
    if (gate.limit.trying) return false;
    const waitMs = gate.limit.until - clock.elapsed();
    if (waitMs <= 0) return true;
    gate.callOff();
    gate.callOff = timers.after(waitMs, () => serve(gate));
    return false;
  }

  function serve(gate: Gate): void {
    while (gate.ready.length > 0 && isOpen(gate)) {
      const line = gate.ready.shift();
      const waiter = line?.waiters[0];
      if (line === undefined) return;
      if (waiter === undefined) lines.delete(line.key);
      else if (!paces.sleeps(line, line.paces)) {
        line.waiters.shift();
        gate.ready.push(line);
        begin(line, waiter);
      }
    }
  }

  function begin({ gate, paces: kept }: Line, waiter: Waiter): void {
    const doing = waiter.begin();
    if (doing === null) return;
    paces.begun(kept);
    gate.running += 1;
    const { limit } = gate;
    if (limit !== null) limit.trying = true;
    void doing.then((outcome) => {
      gate.running -= 1;
      if (limit !== null) limit.trying = false;
      learn(gate, outcome, limit !== null);
      serve(gate);
    });
  }

  /** `afterLimit`: the effect began after the rate limit was met. */
  function learn(gate: Gate, outcome: Outcome, afterLimit: boolean): void {
    if (outcome.ok || outcome.fault.limited !== true) {
      const isAnswered = outcome.ok || outcome.fault.certainty === "refused";
      if (afterLimit && isAnswered) gate.limit = null;
      return;
    }
    const until = clock.elapsed() + (outcome.fault.retryAfterMs ?? defaultPauseMs);
    gate.limit ??= { until, trying: false };
    gate.limit.until = Math.max(gate.limit.until, until);
  }

  return {
    lineOf: (effect) => keyOf(limitOf(effect), pacesAt(effect)),
    ask(effect, begin) {
      asked += 1;
      const kept = pacesAt(effect);
      const key = keyOf(limitOf(effect), kept);
      const known = lines.get(key);
      const line = known ?? { key, gate: gateOf(effect), paces: kept, waiters: [] };
      line.waiters.push({ number: asked, begin });
      if (known === undefined) {
        lines.set(key, line);
        line.gate.ready.push(line);
      }
      serve(line.gate);
    },
    limitedForMs(effect) {
      const until = gates.get(limitOf(effect))?.limit?.until;
      return until === undefined ? 0 : Math.max(until - clock.elapsed(), 0);
    },
  };
}

const numberOf = ({ waiters }: Line): number => waiters[0]?.number ?? 0;
