/** A simulated platform's adapter: performs effects over the network, and reads back what was missed. */
import type { PlatformEffect } from "#core/effect.ts";
import type { PersonEvent } from "#core/event.ts";
import { type Fault, type Outcome, stillSettling } from "#core/outcome.ts";
import type { Attempt, Missed, Pace, Platform } from "#ports.ts";
import { createRandom, type Random } from "#test/simulation/story/random.ts";
import type { Adapter } from "./adapters/adapter.ts";
import { type ChatPlatform, type Posted, scopeOf } from "./chat.ts";
import { type Doubt, isEarly, type Life, type Limit, type Machine } from "./machine.ts";
import { settlingMs } from "./troubles.ts";

const unknown = (reason: string): Fault => ({ certainty: "unknown", retryable: true, reason });

const limited: Fault = { certainty: "refused", retryable: true, reason: "Too many requests.", limited: true };

/** Posts in one channel, or on one platform. */
const paceMs = 1_000;
const paceKey = ({ at }: PlatformEffect): string => scopeOf(at);

/** The platform's clocks may differ from each other by this. */
const mostSkewMs = 15 * 60_000;

const isEdit = (effect: PlatformEffect): boolean => effect.kind === "card" && effect.message !== undefined;

const isPost = (effect: PlatformEffect): boolean =>
  effect.kind === "reply" ||
  (effect.kind === "card" && effect.message === undefined) ||
  (effect.kind === "tell" && effect.at.startsWith("github:"));

export class ChatPort {
  readonly #machine: Machine;
  readonly #chat: ChatPlatform;
  readonly #copies: Random;
  readonly #limits = new Map<string, Limit>();
  readonly #adapterOf: ((life: Life) => Adapter) | null;
  readonly #begun = new Map<string, { readonly life: number; readonly at: number }>();

  /** `adapterOf`: opens the real adapter, which then does the work. */
  constructor(machine: Machine, chat: ChatPlatform, adapterOf: ((life: Life) => Adapter) | null = null) {
    this.#machine = machine;
    this.#adapterOf = adapterOf;
    this.#chat = chat;
    this.#copies = createRandom(machine.seed, `copies of ${chat.name}`);
  }

  /** The platform for one process. */
  open(life: Life): Platform & Partial<Pick<Adapter, "hear" | "heard">> {
    const adapter = this.#adapterOf?.(life) ?? null;
    const { name } = this.#chat;
    const { catchUpMs, paces } = this.#machine.weather;
    return {
      name,
      settlingMs: settlingMs[name],
      check: async () => {},
      perform: (effect, attempt) => this.#perform(life, effect, attempt, adapter),
      ...(catchUpMs === null ? {} : { missed: adapter?.missed ?? ((look) => this.#missed(life, look)) }),
      ...(paces && adapter === null ? { paces: pacesOf } : {}),
      ...(adapter === null ? {} : { paces: adapter.paces, hear: adapter.hear, heard: adapter.heard }),
    };
  }

  #lag(): number {
    const { lags, lagRate } = this.#machine.weather;
    const lagMs = lags[this.#chat.name];
    return lagMs === 0 || lagRate >= 1 || this.#copies.chance(lagRate) ? lagMs : 0;
  }

  async #perform(
    life: Life,
    effect: PlatformEffect,
    attempt: Attempt,
    adapter: Adapter | null,
  ): Promise<Outcome> {
    const { name, unsure, refused } = this.#chat;
    const machine = this.#machine;
    const { time } = machine;
    // Edits and posts are limited apart.
    const key = isPost(effect) ? `post of ${effect.kind}` : effect.kind;
    const limit = this.#limits.get(key);
    if (limit?.life === life.number && isEarly(limit, time.nowMs)) {
      machine.violated(
        "rate limits are obeyed",
        `${effect.id} came ${limit.until - time.nowMs} ms too early`,
      );
    }
    this.#judgePace(life, effect);
    const doubt: Doubt = { life, since: null };
    // A request that was under way when its process died may have arrived; only the adapter's tries show it.
    if (attempt.uncertain) unsure.add(effect.id);
    const outcome =
      adapter !== null
        ? await adapter.perform(effect, attempt, doubt)
        : this.#isLimited(effect)
          ? await this.#tooMany(life)
          : await this.#try(life, effect, attempt, doubt);
    doubt.since = time.nowMs;
    if (!outcome.ok) {
      const { fault } = outcome;
      if (!isEdit(effect)) this.#chat.failedAt.push(time.nowMs);
      if (fault.certainty === "unknown") unsure.add(effect.id);
      if (!fault.retryable) refused.add(effect.id);
      if (fault.limited === true) {
        const until = time.nowMs + (fault.retryAfterMs ?? 0);
        this.#limits.set(key, { life: life.number, until, at: time.nowMs });
      }
      machine.note(name, () => `${effect.id} fails: ${fault.certainty} ${fault.reason}`);
    }
    return outcome;
  }

  async #try(
    life: Life,
    effect: PlatformEffect,
    { uncertain, settlesInMs }: Attempt,
    doubt: Doubt,
  ): Promise<Outcome> {
    const chat = this.#chat;
    const act = (standing: Posted | null): Promise<Outcome> =>
      this.#ask(
        life,
        () => chat.perform(effect, standing, doubt, this.#lag()),
        // A card that an earlier try posted is only edited.
        isPost(effect) && standing === null,
      );
    // A request that was under way when its process died may have arrived; only the adapter's tries show it.
    if (uncertain) chat.unsure.add(effect.id);
    if (!uncertain || !isPost(effect)) return act(null);
    let found: Posted | undefined;
    const search = await this.#ask(life, () => {
      found = chat.shown(this.#lag()).find((posted) => posted.effect === effect.id);
      return { ok: true, kind: "tell" };
    });
    if (!search.ok) return { ok: false, fault: { ...search.fault, certainty: "unknown", searching: true } };
    const there = found;
    if (there === undefined) {
      if (settlesInMs > 0) return { ok: false, fault: stillSettling(settlesInMs, effect.tries) };
      return act(null);
    }
    if (effect.kind === "reply") return { ok: true, kind: "reply", message: there.id };
    return effect.kind === "card" ? act(there) : { ok: true, kind: "tell", message: there.id };
  }

  #isLimited(effect: PlatformEffect): boolean {
    const { healed, weather, network } = this.#machine;
    return isEdit(effect) && !healed && weather.editLimitRate > 0 && network.chance(weather.editLimitRate);
  }

  async #tooMany(life: Life): Promise<Outcome> {
    const retryAfterMs = 1_000 * this.#machine.network.whole(10, 60);
    await this.#machine.outside(life, 50, () => {});
    return { ok: false, fault: { ...limited, retryAfterMs } };
  }

  async #ask(life: Life, does: () => Outcome, makes = false): Promise<Outcome> {
    const answer = await this.#machine.request(life, this.#chat.name, does, { makes, timesOut: false });
    switch (answer.kind) {
      case "answered":
        return answer.value;
      case "unreached":
        return { ok: false, fault: { certainty: "not-sent", retryable: true, reason: "No connection." } };
      case "lost":
        return { ok: false, fault: unknown("No answer.") };
      case "failed":
      case "nonsense":
        return { ok: false, fault: unknown(`It ${answer.kind}.`) };
      case "limited":
        return { ok: false, fault: { ...limited, retryAfterMs: answer.retryAfterMs } };
      default:
        return answer satisfies never;
    }
  }

  /**
   * Reads back what people said: mentions and commands in every place, other messages where the bot looks. As the
   * real adapters do, it remembers by the platform's own clock how far it has read.
   */
  async #missed(
    life: Life,
    { since, places, lively = [], scopes, kept, keep }: Missed,
  ): Promise<readonly PersonEvent[]> {
    const machine = this.#machine;
    const { name } = this.#chat;
    const now = machine.clock(name);
    const from =
      (typeof kept === "string" ? Number(kept) : Date.parse(since) + now - machine.clock("bot")) - mostSkewMs;
    const looked = new Set<string>([...places, ...lively]);
    const answer = await machine.request(life, name, () =>
      this.#chat
        .readableNow(this.#lag())
        .map((one) => one.now())
        .filter((event) => {
          if (Date.parse(event.at) < from) return false;
          if (name === "github") return scopes.includes(event.scope);
          if (event.kind !== "reply" || looked.has(event.place)) return event.kind === "reply";
          // What follows a missed request is for the bot too.
          if (event.mention && !event.underOurs) looked.add(event.place);
          return event.mention || event.underOurs;
        }),
    );
    if (answer.kind !== "answered") throw new Error(`${name} can't be read: ${answer.kind}`);
    keep?.(String(now));
    return answer.value;
  }

  #judgePace(life: Life, effect: PlatformEffect): void {
    const { paces, adapters } = this.#machine.weather;
    if (!(paces || adapters) || !isPost(effect)) return;
    const { nowMs } = this.#machine.time;
    const key = paceKey(effect);
    const last = this.#begun.get(key);
    this.#begun.set(key, { life: life.number, at: nowMs });
    if (last?.life !== life.number || nowMs - last.at >= paceMs - 1) return;
    this.#machine.violated("paces are kept", `${effect.id} came ${nowMs - last.at} ms after another post`);
  }
}

const pacesOf = (effect: PlatformEffect): readonly Pace[] =>
  isPost(effect) ? [{ key: paceKey(effect), count: 1, perMs: paceMs }] : [];
