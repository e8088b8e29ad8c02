/** The simulated machine and its network: a crash may interrupt any request or write. */
import { createRandom, type Random } from "#test/simulation/story/random.ts";
import type { Script } from "#test/simulation/story/script.ts";
import { VirtualTime } from "./virtual-time.ts";
import type { Fate, System, Weather } from "./weather.ts";

/** The life of one process. Work that is under way when it dies takes effect or not, by chance. */
export interface Life {
  readonly number: number;
  dead: boolean;
  readonly underWay: Set<(how: "cut") => void>;
}

/** The outcome of a request: an answer, or a failure of the network. */
export type Answer<T> =
  | { readonly kind: "answered"; readonly value: T }
  | { readonly kind: "unreached" | "lost" | "failed" | "nonsense" }
  | { readonly kind: "limited"; readonly retryAfterMs: number };

/** A 429 that one process received; times are true times. */
export interface Limit {
  readonly life: number;
  readonly until: number;
  readonly at: number;
}

/** True if a request came before the limit ended. Requests that had started before the limit are excused. */
export const isEarly = (limit: Limit, nowMs: number): boolean =>
  nowMs > limit.at + 2_000 && nowMs + 2 < limit.until;

/** The time-out of each system's client. */
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
  /** Violations that were seen while the history ran. */
  readonly violations: Violation[] = [];
  /** The log; null: it is not recorded. */
  readonly lines: string[] | null;
  healed = false;
  /** When the clock last jumped. */
  jumpedAt = Number.NEGATIVE_INFINITY;
  /** Called when the running process must die. */
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

  /** The random stream of a run's life. */
  lifeOf = (dispatch: string, otherwise: Random): Random => this.#script?.lifeOf(dispatch) ?? otherwise;

  sinceStart = (): number => this.time.nowMs - this.time.startMs;

  /** Adds a line to the log; `text` is only called if the history is recorded. */
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

  /** Counts a step; the process may die at any of them. */
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
   * Does something outside the process after `ms`, and resolves with the result a little later. If the
   * process dies before, it is done or not, by chance. A dead process never gets the result.
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
        // Most results come at once; sometimes something else happens in between.
        if (this.chance.chance(0.15)) this.time.after(this.chance.between(1, 400), tell);
        else tell();
      };
      const cut = (): void => {
        callOff();
        if (this.chance.chance(0.5)) {
          try {
            does();
          } catch {
            // Nobody is left to see the error.
          }
        }
      };
      life.underWay.add(cut);
      this.#step(life);
      if (life.dead) return;
      callOff = this.time.after(ms, end);
    });
  }

  /** Sends a request over the network. One that hangs ends with its client's time-out. */
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

  /** The API's client times out after a minute. The engine itself gives up on a platform's adapter. */
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
