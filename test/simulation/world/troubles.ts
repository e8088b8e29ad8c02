/** The troubles of a world that lags, steps and goes away. Each is a feature that can be switched off. */
import { createRandom, type Random } from "#test/simulation/story/random.ts";
import type { Clocks, System } from "./clocks.ts";

/** What is read later than it was written. */
export type Lagging = "runs" | "changes" | "fetch" | "conversation" | "slack" | "github";

export interface Troubles {
  readonly clocks: Clocks;
  /** The most milliseconds by which each kind of read lags behind the writes. */
  readonly lags: Readonly<Record<Lagging, number>>;
  /** The probability that a read meets a copy that lags. */
  readonly lagRate: number;
  /** The share of failed writes that took effect all the same: answered 503, or later than the client waited. */
  readonly lateShare: number;
  /** The probability that the connection is cut when something new was made. */
  readonly cutRate: number;
  /** Runs are listed with whole seconds, and equal times in another order at each request. */
  readonly unordered: boolean;
  readonly honoursMetadata: boolean;
  /** The service's answers have a `Date`. */
  readonly givesDate: boolean;
  /** Number of other runs under the bot's name. */
  readonly crowd: number;
  /** How long before the start the first of them was made. */
  readonly crowdSinceMs: number;
  /** The probability that a process starts without one of the platforms. */
  readonly absenceRate: number;
  /** The probability that an earlier version ran before a start: its documents lack this version's fields. */
  readonly olderRate: number;
  /** The probability that a process can't read one of the documents. */
  readonly unreadableRate: number;
  /** Milliseconds between two searches for missed events; null: the bot searches for none. */
  readonly catchUpMs: number | null;
  /** The probability that a process that ended stays away for long, while people go on. */
  readonly awayRate: number;
  /** The API's client repeats what surely had no effect. */
  readonly clientRetries: boolean;
  /** A message may overtake the mention or the label that it belongs to. */
  readonly overtaking: boolean;
  /** Platforms ask for paces. */
  readonly paces: boolean;
  /** Work that waited for the world to heal must be done soon afterwards. */
  readonly judgesDelays: boolean;
  /** The real adapters of Slack and GitHub do the work, at stand-ins of their wires. */
  readonly adapters: boolean;
  /** The probability that an edit meets a rate limit that posts don't have. */
  readonly editLimitRate: number;
}

/** The time within which each system usually shows what it did, in milliseconds. */
export const settlingMs: Readonly<Record<System, number>> = {
  "agent-runs": 60_000,
  slack: 20_000,
  github: 40_000,
};
export const systemOfLag = (kind: Lagging): System =>
  kind === "slack" || kind === "github" ? kind : "agent-runs";

const exact = { skewMs: 0, driftMsAnHour: 0, steps: [] };

/** No trouble. */
export const calmTroubles: Troubles = {
  clocks: { bot: exact, "agent-runs": exact, slack: exact, github: exact },
  lags: { runs: 0, changes: 0, fetch: 0, conversation: 0, slack: 0, github: 0 },
  lagRate: 1,
  lateShare: 0,
  cutRate: 0,
  unordered: false,
  honoursMetadata: false,
  givesDate: true,
  crowd: 0,
  crowdSinceMs: 25 * 3_600_000,
  absenceRate: 0,
  olderRate: 0,
  unreadableRate: 0,
  catchUpMs: null,
  awayRate: 0,
  clientRetries: false,
  overtaking: false,
  paces: false,
  judgesDelays: false,
  adapters: false,
  editLimitRate: 0,
};

const minute = 60_000;
const hour = 60 * minute;

interface Drawing {
  readonly features: ReadonlySet<Feature>;
  readonly calm: boolean;
  readonly actsMs: number;
}

type Draw = (troubles: Troubles, random: Random, actsMs: number) => Partial<Troubles>;

/** The probability of each feature in a history that is not calm, and its troubles. */
const draws = {
  /** Reads lag behind writes, by less than the settling time. */
  lag: {
    probability: 0.45,
    draw: ({ lags }, random) => {
      const drawn = { ...lags };
      for (const kind of kindsOfLag) {
        if (!random.chance(0.6)) continue;
        const most = settlingMs[systemOfLag(kind)];
        drawn[kind] = Math.max(drawn[kind], most * random.pick([0.05, 0.3, 0.85]) * random.between(0.3, 1));
      }
      return { lags: drawn, lagRate: random.pick([0.5, 1]) };
    },
  },
  /** A run's conversation lags behind its state. */
  conversationLag: {
    probability: 0.25,
    draw: ({ lags }, random) => {
      const conversation = settlingMs["agent-runs"] * random.pick([0.05, 0.3, 0.85]) * random.between(0.3, 1);
      return { lags: { ...lags, conversation }, lagRate: random.pick([0.5, 1]) };
    },
  },
  /** One kind of read lags longer than the settling time. */
  farLag: {
    probability: 0.06,
    draw: ({ lags }, random) => {
      const kind = random.pick(["runs", "slack", "github"] as const);
      const far = settlingMs[systemOfLag(kind)] * random.pick([1.5, 4, 15]);
      return { lags: { ...lags, [kind]: far } };
    },
  },
  late: { probability: 0.3, draw: (_, random) => ({ lateShare: random.pick([0.2, 0.6]) }) },
  cuts: { probability: 0.2, draw: (_, random) => ({ cutRate: random.pick([0.1, 0.5]) }) },
  /** Clocks are wrong, and drift. */
  skew: {
    probability: 0.4,
    draw: ({ clocks }, random) => {
      const wrong = (system: keyof Clocks) => ({
        ...clocks[system],
        skewMs: clocks[system].skewMs + random.pick([-1, 1]) * random.pick([2_000, 3 * minute, 13 * minute]),
        driftMsAnHour: random.pick([0, random.between(-2_000, 2_000)]),
      });
      const some = <T>(value: () => T, otherwise: T): T => (random.chance(0.5) ? value() : otherwise);
      return {
        clocks: {
          bot: some(() => wrong("bot"), clocks.bot),
          "agent-runs": some(() => wrong("agent-runs"), clocks["agent-runs"]),
          slack: some(() => wrong("slack"), clocks.slack),
          github: some(() => wrong("github"), clocks.github),
        },
      };
    },
  },
  /** The service's clock is set while runs are at work, by less than a quarter of an hour altogether. */
  apiSteps: {
    probability: 0.2,
    draw: ({ clocks }, random, actsMs) => ({
      clocks: {
        ...clocks,
        "agent-runs": {
          ...clocks["agent-runs"],
          steps: drawSteps(random, actsMs, [5_000, 2 * minute, 4 * minute]),
        },
      },
    }),
  },
  /** Our clock is set by a day, for a moment. */
  ownSteps: {
    probability: 0.1,
    draw: ({ clocks }, random, actsMs) => {
      const atMs = random.between(0, actsMs);
      const byMs = random.pick([-24 * hour, 24 * hour, 90_000, -90_000]);
      const back = { atMs: atMs + random.pick([2_000, minute]), byMs: -byMs };
      return {
        clocks: { ...clocks, bot: { ...clocks.bot, steps: [...clocks.bot.steps, { atMs, byMs }, back] } },
      };
    },
  },
  /** A platform's clock is set. */
  platformSteps: {
    probability: 0.1,
    draw: ({ clocks }, random, actsMs) => {
      const platform = random.pick(["slack", "github"] as const);
      const steps = drawSteps(random, actsMs, [3_000, minute, 6 * minute]);
      return { clocks: { ...clocks, [platform]: { ...clocks[platform], steps } } };
    },
  },
  unordered: { probability: 0.15, draw: () => ({ unordered: true }) },
  metadata: { probability: 0.5, draw: () => ({ honoursMetadata: true }) },
  dateless: { probability: 0.2, draw: () => ({ givesDate: false }) },
  crowd: { probability: 0.03, draw: (_, random) => ({ crowd: random.pick([120, 260, 380]) }) },
  absence: { probability: 0.15, draw: () => ({ absenceRate: 0.5 }) },
  older: { probability: 0.1, draw: () => ({ olderRate: 0.5 }) },
  unreadable: { probability: 0.08, draw: () => ({ unreadableRate: 0.4 }) },
  catchUp: { probability: 0.3, draw: () => ({ catchUpMs: 3 * minute, awayRate: 0.5 }) },
  clientRetries: { probability: 0.3, draw: () => ({ clientRetries: true }) },
  overtaking: { probability: 0.15, draw: () => ({ overtaking: true }) },
  delays: { probability: 1, draw: () => ({ judgesDelays: true }) },
  adapters: { probability: 0.1, draw: () => ({ adapters: true }) },
  paces: { probability: 0.2, draw: () => ({ paces: true }) },
  editLimits: { probability: 0.15, draw: (_, random) => ({ editLimitRate: random.pick([0.2, 0.6]) }) },
} as const satisfies Readonly<Record<string, { readonly probability: number; readonly draw: Draw }>>;

const kindsOfLag = ["runs", "changes", "fetch", "slack", "github"] as const;

export type Feature = keyof typeof draws;
export const isFeature = (name: string): name is Feature => Object.hasOwn(draws, name);
export const everyFeature: readonly Feature[] = Object.keys(draws).filter(isFeature);

/** Features of calm histories too. */
const harmless: ReadonlySet<Feature> = new Set<Feature>([
  "metadata",
  "dateless",
  "catchUp",
  "delays",
  "adapters",
]);

/** Each feature has a random stream of its own, so that switching one leaves the others as they are. */
export function drawTroubles(seed: number, usual: Troubles, { features, calm, actsMs }: Drawing): Troubles {
  let troubles = usual;
  for (const feature of everyFeature) {
    const { probability, draw } = draws[feature];
    const random = createRandom(seed, `trouble ${feature}`);
    if (!features.has(feature) || (calm && !harmless.has(feature)) || !random.chance(probability)) continue;
    troubles = { ...troubles, ...draw(troubles, random, actsMs) };
  }
  return troubles;
}

function drawSteps(random: Random, actsMs: number, sizes: readonly number[]): Clocks["bot"]["steps"] {
  return Array.from({ length: random.whole(1, 3) }, () => ({
    atMs: random.between(0, actsMs),
    byMs: random.pick([-1, 1]) * random.pick(sizes),
  }));
}
