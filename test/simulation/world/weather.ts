/** The failures of one history until the world heals, and their times, drawn from its seed. */
import { createRandom, type Random } from "#test/simulation/story/random.ts";
import type { System } from "./clocks.ts";
import { calmTroubles, drawTroubles, type Feature, type Troubles } from "./troubles.ts";

/**
 * The fate of a request. `lost`: the answer is lost, `before` or `after` it took effect. `hung`: the same,
 * but the connection stays open. `limited`: a 429. `unreached`: no connection was made. `failed`: a 5xx without
 * effect; `failed-after`: one with effect. `late`: no answer before the client's time-out, and the effect comes
 * later still. Only scripts have the others: `nonsense`: an unreadable answer, without effect; `garbled`: one with
 * effect. `timed-out`: no answer before the client's time-out. `slow`: an answer shortly before it.
 */
export type Fate =
  | "ok"
  | "unreached"
  | "lost-before"
  | "lost-after"
  | "hung-before"
  | "hung-after"
  | "limited"
  | "failed"
  | "failed-after"
  | "late"
  | "nonsense"
  | "garbled"
  | "timed-out"
  | "slow";

interface Outage {
  readonly system: System;
  readonly fromMs: number;
  readonly toMs: number;
  readonly fate: Fate;
}

export interface Weather extends Troubles {
  readonly calm: boolean;
  /** How long people act, from the start, and how often. */
  readonly actsMs: number;
  readonly acts: number;
  /** The probability that a request fails outside of outages. */
  readonly faultRate: number;
  readonly hangShare: number;
  readonly refusalRate: number;
  readonly outages: readonly Outage[];
  readonly diskFaultRate: number;
  /** Milliseconds from the start. */
  readonly diskFull: { readonly fromMs: number; readonly toMs: number } | null;
  readonly slowestWriteMs: number;
  /** The steps, counted over all processes, at which the process dies. */
  readonly crashSteps: ReadonlySet<number>;
  /** When the process is told to stop, in milliseconds from the start. */
  readonly stopsAt: readonly number[];
  readonly duplicateRate: number;
  readonly lateDuplicateRate: number;
  readonly slowestDeliveryMs: number;
  readonly pageSize: number;
  readonly ignoredFilters: ReadonlySet<"name" | "created_after" | "updated_after">;
}

const minute = 60_000;
const hour = 60 * minute;

/** `features`: the troubles that the history may have besides the usual failures. */
export function drawWeather(seed: number, features: ReadonlySet<Feature>): Weather {
  const random = createRandom(seed, "weather");
  const calm = random.chance(0.15);
  const bad = <T>(probability: number, value: () => T, otherwise: T): T =>
    !calm && random.chance(probability) ? value() : otherwise;
  const actsMs = random.pick([20_000, minute, 3 * minute, 10 * minute, 40 * minute]);
  const window = (): { fromMs: number; toMs: number } => {
    const fromMs = random.between(0, actsMs);
    return { fromMs, toMs: fromMs + random.pick([2_000, 20_000, 2 * minute, 15 * minute]) };
  };
  const steps = bad(0.25, () => drawJumps(random, actsMs), []);
  const usual = {
    calm,
    actsMs,
    acts: random.whole(3, 14),
    faultRate: bad(0.7, () => random.pick([0.02, 0.1, 0.3]), 0),
    hangShare: bad(0.2, () => 0.2, 0),
    refusalRate: bad(0.3, () => 0.1, 0),
    outages: bad(0.35, () => drawOutages(random, window), []),
    diskFaultRate: bad(0.3, () => random.pick([0.02, 0.15]), 0),
    diskFull: bad(0.15, window, null),
    slowestWriteMs: bad(0.3, () => random.pick([50, 1_000, 6_000]), 20),
    crashSteps: new Set(
      bad(0.6, () => Array.from({ length: random.whole(1, 4) }, () => random.whole(1, 160)), []),
    ),
    stopsAt: bad(0.15, () => [random.between(0, actsMs)], []),
    duplicateRate: calm ? 0.1 : random.pick([0, 0.2, 0.5]),
    lateDuplicateRate: random.chance(0.15) ? 0.3 : 0,
    slowestDeliveryMs: random.pick([200, 200, 3_000, 30_000]),
    apiSkewMs: random.between(-minute, minute),
    changesLagMs: bad(0.25, () => random.between(500, 15_000), 0),
    pageSize: random.pick([1, 2, 500, 500]),
    ignoredFilters: new Set(
      (["name", "created_after", "updated_after"] as const).filter(() => random.chance(0.15)),
    ),
  };
  const { apiSkewMs, changesLagMs, ...weather } = usual;
  const { clocks, lags } = calmTroubles;
  return {
    ...weather,
    ...drawTroubles(
      seed,
      {
        ...calmTroubles,
        clocks: {
          ...clocks,
          bot: { ...clocks.bot, steps },
          "agent-runs": { ...clocks["agent-runs"], skewMs: apiSkewMs },
        },
        lags: { ...lags, changes: changesLagMs },
      },
      { features, calm, actsMs },
    ),
  };
}

function drawOutages(random: Random, window: () => { fromMs: number; toMs: number }): readonly Outage[] {
  return Array.from({ length: random.whole(1, 2) }, () => ({
    system: random.pick(["agent-runs", "slack", "github"] as const),
    ...window(),
    fate: random.pick(["unreached", "lost-before", "lost-after", "limited", "hung-before"] as const),
  }));
}

function drawJumps(random: Random, actsMs: number): Troubles["clocks"]["bot"]["steps"] {
  return Array.from({ length: random.whole(1, 2) }, () => ({
    atMs: random.between(0, actsMs),
    byMs: random.pick([-1, 1]) * random.pick([2_000, minute, 20 * minute, 3 * hour]),
  }));
}
