/** Delivers people's actions to the bot: late, twice, out of order, again after a failure, or never. */
import type { PersonEvent } from "#core/event.ts";
import { createRandom, type Random } from "#test/simulation/story/random.ts";
import type { World } from "./world.ts";

/**
 * The person's intention. `dispatch`: a run; `talk`: a run or a follow-up; `say`: possibly a follow-up;
 * `label`: a run unless one is at work; `control`: a command to answer; `wrong`: mistyped; `nothing`: not for
 * the bot.
 */
export type Intent = "dispatch" | "talk" | "say" | "label" | "control" | "wrong" | "nothing";

/** One action of a person, and the bot's response. */
export interface Deed {
  readonly event: PersonEvent;
  readonly intent: Intent;
  readonly permitted: boolean;
  /** A word that occurs in no other deed's text. */
  readonly token: string | null;
  /** The run or dispatch that it names. */
  readonly target: string | null;
  readonly verb: string | null;
  /** True times. */
  saidAt?: number;
  triedAt: number | null;
  ackedAt: number | null;
  acked: "saved" | "ignored" | null;
}

const minute = 60_000;

/** Errors of the disk, and of a bot that has been told to stop. */
const mayRefuse = new Set(["DiskError", "RefTaken", "ThreadUnreadable", "EngineStopped"]);

export class Deliveries {
  readonly deeds: Deed[] = [];
  /** Deliveries that are scheduled or not answered yet. */
  underWay = 0;
  readonly #world: World;
  readonly #random: Random;

  constructor(world: World) {
    this.#world = world;
    this.#random = createRandom(world.machine.seed, "deliveries");
    world.github.redeliver = (id) => {
      const deed = this.deeds.find(({ event }) => event.id === id);
      if (deed !== undefined)
        this.#series(deed, () => deed.event, this.#random.between(10, minute), [], true);
    };
  }

  /** Delivers the deed as its platform does; `eventAt` returns the event for a delivery at that time. */
  send(deed: Deed, eventAt: (now: number) => PersonEvent = () => deed.event): void {
    const { weather, time } = this.#world.machine;
    this.deeds.push(deed);
    deed.saidAt = time.nowMs;
    this.#world.machine.note("person", () => describe(deed));
    const slowest = this.#random.chance(0.2) ? weather.slowestDeliveryMs : 200;
    const { kind, by } = deed.event;
    const isMessage = kind !== "button" && !(kind === "command" && deed.event.place === null);
    const platform = by.platform === "slack" ? this.#world.slack : this.#world.github;
    if (isMessage) {
      platform.readable.push({ event: deed.event, now: () => eventAt(time.nowMs), saidAt: time.nowMs });
    }
    const begins = kind === "label" || kind === "command" || (kind === "reply" && deed.event.mention);
    const overtakenMs = weather.overtaking && begins && isMessage ? this.#random.between(0, 20_000) : 0;
    const ms = overtakenMs + this.#random.between(10, slowest);
    this.#series(deed, eventAt, ms, this.#retries(deed.event));
    if (isMessage && this.#random.chance(weather.duplicateRate)) {
      this.#series(deed, eventAt, this.#random.between(10, 4_000), this.#retries(deed.event));
    }
    if (isMessage && this.#random.chance(weather.lateDuplicateRate)) {
      const ms = this.#random.between(30, 200) * minute;
      this.#series(deed, eventAt, ms, []);
    }
  }

  /** Slack retries an event three times, but no command or button; GitHub retries nothing. */
  #retries(event: PersonEvent): readonly number[] {
    if (event.kind === "button" || (event.kind === "command" && event.place === null)) return [];
    if (event.by.platform === "slack") return [1_000, minute, 5 * minute];
    // Somebody presses "redeliver".
    return this.#random.chance(0.7) ? [this.#random.between(1, 90) * minute] : [];
  }

  #series(
    deed: Deed,
    eventAt: (now: number) => PersonEvent,
    ms: number,
    retriesMs: readonly number[],
    redelivery = false,
  ): void {
    const { time } = this.#world.machine;
    this.underWay += 1;
    time.after(ms, () => {
      const event = eventAt(time.nowMs);
      const { attempts } = event.by.platform === "slack" ? this.#world.slack : this.#world.github;
      const at = new Date(this.#world.machine.clock("github")).toISOString();
      this.#try(deed, event, (acked) => {
        attempts.push({ event, at, ok: acked, redelivery });
        const [next, ...rest] = retriesMs;
        if (!acked && next !== undefined) this.#series(deed, eventAt, next, rest, true);
        this.underWay -= 1;
      });
    });
  }

  #try(deed: Deed, event: PersonEvent, then: (acked: boolean) => void): void {
    const { machine, process } = this.#world;
    deed.triedAt ??= machine.time.nowMs;
    let over = false;
    const end = (answer: string): void => {
      if (over) return;
      over = true;
      callOff();
      const acked = answer === "saved" || answer === "ignored";
      machine.note("delivery", () => `${event.id} is answered: ${answer}`);
      if (acked && deed.acked !== "saved") {
        deed.acked = answer;
        deed.ackedAt = machine.time.nowMs;
      }
      then(acked);
    };
    const limitMs = event.by.platform === "slack" ? 3_000 : 10_000;
    const callOff = machine.time.after(limitMs, () => end("too late"));
    if (process === null || process.absent.includes(event.by.platform)) return end("nobody listens");
    process.accept(event).then(
      (answer) => {
        if (!process.life.dead) end(answer);
      },
      (error: unknown) => {
        if (process.life.dead) return;
        const name = error instanceof Error ? error.name : "";
        if (!mayRefuse.has(name))
          machine.violated("whoever listens answers", `${event.id}: ${String(error)}`);
        end(String(error));
      },
    );
  }
}

function describe({ event, intent, permitted }: Deed): string {
  const what =
    "text" in event
      ? JSON.stringify(event.text)
      : event.kind === "label"
        ? event.label
        : `${event.action} ${event.dispatch}`;
  const where = event.place ?? event.scope;
  const who = `${event.by.id}${event.by.bot ? " (bot)" : permitted ? "" : " (may not)"}`;
  const mention = event.kind === "reply" && event.mention ? "@bot " : "";
  return `${who} in ${where}, ${event.kind} [${intent}] ${mention}${what}   (${event.id})`;
}
