/** The machine that the bot runs on and the wires that leave it: where a request or a write may be cut in two. */
import { createRandom, type Random } from "#test/simulation/story/random.ts";
import type { Script } from "#test/simulation/story/script.ts";
import { VirtualTime } from "./virtual-time.ts";
import type { Fate, System, Weather } from "./weather.ts";

/** One process's life. What it began and hasn't ended when it dies, ends by chance, unheard. */
export interface Life {
  readonly number: number;
  dead: boolean;
  readonly underWay: Set<(how: "cut") => void>;
}

/** What became of a request: what the other side answered, or a fault of the wire. */
export type Answer<T> =
  | { readonly kind: "answered"; readonly value: T }
  | { readonly kind: "unreached" | "lost" | "failed" | "nonsense" }
  | { readonly kind: "limited"; readonly retryAfterMs: number };

/** A 429 as one process heard it, in true time. */
export interface Limit {
  readonly life: number;
  readonly until: number;
  readonly at: number;
}

/** Whether the request should have waited. What had begun before, with a search or two, is on its way. */
export const isEarly = (limit: Limit, nowMs: number): boolean =>
  nowMs > limit.at + 2_000 && nowMs + 2 < limit.until;

/** So long each system's client waits for an answer. */
const patienceMs: Readonly<Record<System, number>> = { "agent-runs": 60_000, slack: 15_000, github: 20_000 };

export interface Violation {
  readonly invariant: string;
  readonly what: string;
}

export class Machine {
  readonly seed: number;
  readonly weather: Weather;
  readonly time = new VirtualTime();
  readonly network: Random;
  readonly chance: Random;
  /** What was seen to be wrong while it happened. */
  readonly violations: Violation[] = [];
  /** null: nobody reads the history. */
  readonly lines: string[] | null;
  healed = false;
  /** The last instant at which the clock jumped. */
  jumpedAt = Number.NEGATIVE_INFINITY;
  /** Called when the running process is to die. */
  onCrash: () => void = () => {};
  readonly #script: Script | null;
  #steps = 0;
  #lives = 0;

  constructor(seed: number, recording: boolean, script: Script | null, weather: Weather) {
    this.seed = seed;
    this.#script = script;
    this.weather = weather;
    this.network = script?.evenly ?? createRandom(seed, "network");
    this.chance = script?.evenly ?? createRandom(seed, "machine");
    this.lines = recording ? [] : null;
  }

  /** The chance that a run's life comes out of. */
  lifeOf = (dispatch: string, otherwise: Random): Random => this.#script?.lifeOf(dispatch) ?? otherwise;

  sinceStart = (): number => this.time.nowMs - this.time.startMs;

  /** `text` is only asked for if the history is read. */
  note(who: string, text: () => string): void {
    if (this.lines === null) return;
    const at = (this.sinceStart() / 1_000).toFixed(3).padStart(10);
    this.lines.push(`${at} ${who.padEnd(8)} ${text()}`);
  }

  violated(invariant: string, what: string): void {
    this.violations.push({ invariant, what });
    this.note("BROKEN", () => `${invariant}: ${what}`);
  }

  newLife(): Life {
    this.#lives += 1;
    return { number: this.#lives, dead: false, underWay: new Set() };
  }

  /** Between any two steps the process may die. */
  #step(life: Life): void {
    if (life.dead) return;
    this.#steps += 1;
    if (!this.healed && this.weather.crashSteps.has(this.#steps)) this.onCrash();
  }

  kill(life: Life): void {
    life.dead = true;
    for (const end of [...life.underWay]) end("cut");
    life.underWay.clear();
  }

  /**
   * Something outside the process that takes `ms`, is done in one instant, and is heard of a little later. If
   * the process dies before it is done, it is done or not, by chance. A dead process hears of nothing.
   */
  outside<T>(life: Life, ms: number, does: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (life.dead) return;
      let callOff = (): void => {};
      const end = (): void => {
        life.underWay.delete(cut);
        callOff();
        let result: () => void;
        try {
          const value = does();
          result = () => resolve(value);
        } catch (error) {
          result = () => reject(error);
        }
        this.#step(life);
        if (life.dead) return;
        const tell = (): void => {
          if (life.dead) return;
          this.#step(life);
          if (!life.dead) result();
        };
        // Most answers come at once; now and then something happens in between.
        if (this.chance.chance(0.15)) this.time.after(this.chance.between(1, 400), tell);
        else tell();
      };
      const cut = (): void => {
        callOff();
        if (this.chance.chance(0.5)) {
          try {
            does();
          } catch {
            // Nobody is left to hear of it.
          }
        }
      };
      life.underWay.add(cut);
      this.#step(life);
      if (life.dead) return;
      callOff = this.time.after(ms, end);
    });
  }

  /** A request over the network. A hung one ends when its client's patience does. */
  async request<T>(life: Life, system: System, does: () => T): Promise<Answer<T>> {
    this.#script?.onRequest(system, this.sinceStart());
    const fate = this.#fate(system);
    const ms = this.network.between(5, 300);
    switch (fate) {
      case "ok":
        return { kind: "answered", value: await this.outside(life, ms, does) };
      case "unreached":
        await this.outside(life, ms, () => {});
        return { kind: "unreached" };
      case "limited": {
        const retryAfterMs = 1_000 * this.network.whole(1, 60);
        await this.outside(life, ms, () => {});
        return { kind: "limited", retryAfterMs };
      }
      case "lost-before":
        await this.outside(life, ms * 10, () => {});
        return { kind: "lost" };
      case "lost-after":
        await this.outside(life, ms * 10, () => void does());
        return { kind: "lost" };
      case "hung-before":
        await this.outside(life, ms, () => {});
        return this.#hangs(life, system);
      case "hung-after":
        await this.outside(life, ms, () => void does());
        return this.#hangs(life, system);
      case "failed":
      case "nonsense":
        await this.outside(life, ms, () => {});
        return { kind: fate };
      case "garbled":
        await this.outside(life, ms, () => void does());
        return { kind: "nonsense" };
      case "timed-out":
        await this.outside(life, patienceMs[system], () => {});
        return { kind: "lost" };
      case "slow":
        return { kind: "answered", value: await this.outside(life, patienceMs[system] * 0.8, does) };
      default:
        return fate satisfies never;
    }
  }

  /** The API's client gives up after a minute; of a platform's adapter the engine makes sure by itself. */
  async #hangs<T>(life: Life, system: System): Promise<Answer<T>> {
    if (system !== "agent-runs") return new Promise(() => {});
    await this.outside(life, 60_000, () => {});
    return { kind: "lost" };
  }

  #fate(system: System): Fate {
    if (this.#script !== null) return this.#script.fate(system, this.sinceStart());
    if (this.healed) return "ok";
    const now = this.sinceStart();
    const outage = this.weather.outages.find(
      (one) => one.system === system && one.fromMs <= now && now < one.toMs,
    );
    if (outage !== undefined) return outage.fate;
    if (!this.network.chance(this.weather.faultRate)) return "ok";
    if (this.network.chance(this.weather.hangShare)) {
      return this.network.pick(["hung-before", "hung-after"] as const);
    }
    return this.network.pick(["unreached", "lost-before", "lost-after", "limited"] as const);
  }
}
