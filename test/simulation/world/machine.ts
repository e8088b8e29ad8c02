/** The simulated machine and its network: a crash may interrupt any request or write. */
import { createRandom, type Random } from "#test/simulation/story/random.ts";
import type { Script } from "#test/simulation/story/script.ts";
import { aheadMs, type Clocks, type System } from "./clocks.ts";
import { settlingMs } from "./troubles.ts";
import { VirtualTime } from "./virtual-time.ts";
import type { Fate, Weather } from "./weather.ts";

/** The life of one process. Work that is under way when it dies takes effect or not, by chance. */
export interface Life {
  readonly number: number;
  /** True times. */
  readonly bornAt: number;
  diedAt: number | null;
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

/** The doubt that a request left. `since`: when its sender stopped waiting; null: it waited until it died. */
export interface Doubt {
  readonly life: Life;
  since: number | null;
}

/** The most by which clocks that drift measure a limit differently. */
const mostDriftMs = 100;

/** True if a request began before the limit ended. */
export const isEarly = (limit: Limit, nowMs: number): boolean =>
  nowMs > limit.at && nowMs + mostDriftMs < limit.until;

/** The time-out of each system's client. */
export const patienceMs: Readonly<Record<System, number>> = {
  "agent-runs": 60_000,
  slack: 15_000,
  github: 20_000,
};

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

  /** What the clock of the system shows, in milliseconds since the epoch. */
  clock = (of: keyof Clocks): number =>
    Math.floor(this.time.nowMs + aheadMs(this.weather.clocks[of], this.sinceStart()));

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
    return { number: this.#lives, bornAt: this.time.nowMs, diedAt: null, dead: false, underWay: new Set() };
  }

  /** Counts a step; the process may die at any of them. */
  #step(life: Life): void {
    if (life.dead) return;
    this.#steps += 1;
    if (!this.healed && this.weather.crashSteps.has(this.#steps)) this.onCrash();
  }

  kill(life: Life): void {
    life.dead = true;
    life.diedAt = this.time.nowMs;
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
        if (this.chance.chance(0.5)) attempt(does);
      };
      life.underWay.add(cut);
      this.#step(life);
      if (life.dead) return;
      callOff = this.time.after(ms, end);
    });
  }

  /** A moment at which a request that its sender no longer waits for may take effect. */
  #lateMs(system: System): number {
    const { lags } = this.weather;
    const lag = system === "agent-runs" ? Math.max(lags.runs, lags.conversation) : lags[system];
    return this.network.between(0, Math.max(settlingMs[system] * 0.9 - lag, 0));
  }

  /**
   * Sends a request over the network. One that hangs ends with its client's time-out; without `timesOut` it never
   * ends, since the engine itself gives up on an adapter's effects. `makes`: it makes something new, which may happen
   * later than its sender waits.
   */
  async request<T>(
    life: Life,
    system: System,
    does: () => T,
    { makes = false, timesOut = true }: { readonly makes?: boolean; readonly timesOut?: boolean } = {},
  ): Promise<Answer<T>> {
    this.#script?.onRequest(system, this.sinceStart());
    const drawn = this.#fate(system, makes);
    const fate = drawn === "late" && !makes ? "hung-before" : drawn;
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
        return this.#hangs(life, system, timesOut);
      case "hung-after":
        await this.outside(life, ms, () => void does());
        return this.#hangs(life, system, timesOut);
      case "failed-after":
        await this.outside(life, ms, () => void does());
        return { kind: "failed" };
      case "late": {
        const lateMs = patienceMs[system] + this.#lateMs(system);
        this.time.after(lateMs, () => void attempt(does));
        await this.outside(life, patienceMs[system], () => {});
        return { kind: "lost" };
      }
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

  async #hangs<T>(life: Life, system: System, timesOut: boolean): Promise<Answer<T>> {
    if (!timesOut) return new Promise(() => {});
    await this.outside(life, patienceMs[system], () => {});
    return { kind: "lost" };
  }

  #fate(system: System, makes: boolean): Fate {
    if (this.#script !== null) return this.#script.fate(system, this.sinceStart());
    if (this.healed) return "ok";
    const now = this.sinceStart();
    const outage = this.weather.outages.find(
      (one) => one.system === system && one.fromMs <= now && now < one.toMs,
    );
    if (outage !== undefined) return outage.fate;
    const { cutRate } = this.weather;
    if (makes && cutRate > 0 && this.network.chance(cutRate)) return "lost-after";
    if (!this.network.chance(this.weather.faultRate)) return "ok";
    if (this.weather.lateShare > 0 && this.network.chance(this.weather.lateShare)) {
      return this.network.pick(["failed", "failed-after", "failed-after", "late"] as const);
    }
    if (this.network.chance(this.weather.hangShare)) {
      return this.network.pick(["hung-before", "hung-after"] as const);
    }
    return this.network.pick(["unreached", "lost-before", "lost-after", "limited"] as const);
  }
}

/** Nobody is left to see an error. */
function attempt(does: () => unknown): void {
  try {
    does();
  } catch {}
}
