/** A simulated platform, Slack-like or GitHub-like, behind the interface of its adapter. */

import type { PlatformEffect } from "#core/effect.ts";
import type { PersonEvent } from "#core/event.ts";
import type { Fault, Outcome } from "#core/outcome.ts";
import type { Permission } from "#core/person.ts";
import { type Place, placeAt, type Scope } from "#core/place.ts";
import type { View } from "#core/view.ts";
import type { Doubt, Machine } from "./machine.ts";

/** A message of the bot, public or private. */
export interface Posted {
  readonly effect: string;
  readonly kind: "card" | "reply" | "tell";
  readonly id: string;
  readonly place: Place;
  readonly dispatch: string | null;
  readonly person: string | null;
  view: View;
  /** True times. */
  readonly at: number;
  deletedAt: number | null;
  readonly doubt: Doubt | null;
}

/** One try to deliver an event, as the platform logs it. */
export interface DeliveryAttempt {
  readonly event: PersonEvent;
  /** RFC 3339, by the platform's clock. */
  readonly at: string;
  readonly ok: boolean;
  readonly redelivery: boolean;
}

interface Words {
  readonly author: string;
  readonly at: string;
  readonly text: string;
  readonly message: string;
}

interface Readable {
  readonly event: PersonEvent;
  readonly now: () => PersonEvent;
  /** True time. */
  readonly saidAt: number;
}

/** The channel or repository of a place; a scope is its own. */
export const scopeOf = (at: Place | Scope): Scope => at.split("#")[0]?.split(":").slice(0, 3).join(":") ?? at;

const gone: Fault = { certainty: "refused", retryable: false, reason: "That is gone." };
const closed: Fault = {
  certainty: "refused",
  retryable: false,
  reason: "The bot may not post here.",
  code: "not_in_channel",
};

export class ChatPlatform {
  readonly name: "slack" | "github";
  readonly posted: Posted[] = [];
  /** Effects that were finally refused, and those with a try of unknown outcome. */
  readonly refused = new Set<string>();
  readonly unsure = new Set<string>();
  /** True times at which an effect other than an edit failed. */
  readonly failedAt: number[] = [];
  readonly reactions = new Map<string, Set<string>>();
  readonly labels = new Map<Place, string>();
  readonly said = new Map<Place, Words[]>();
  /** What people did that can be read back, in order; the function returns the event as it is read now. */
  readonly readable: Readable[] = [];
  /** People's labels that are gone, in words. */
  lostLabels: () => readonly string[] = () => [];
  /** Oldest first. */
  readonly attempts: DeliveryAttempt[] = [];
  /** Delivers the event with this id again. */
  redeliver: (event: string) => void = () => {};
  /** Places and scopes in which the bot may not post. */
  readonly shut = new Set<Place | Scope>();
  readonly permissions = new Map<string, Exclude<Permission, "unknown">>();
  /** Effects toward each place, in the order in which they took effect. */
  readonly done = new Map<Place, { readonly effect: string; readonly kind: string }[]>();
  readonly #machine: Machine;
  readonly #lastIn = new Map<Scope, number>();
  #count = 0;

  constructor(machine: Machine, name: "slack" | "github") {
    this.#machine = machine;
    this.name = name;
  }

  /** The time of what happens now in the scope: things there have an order, even if the clock is set back. */
  timeIn(scope: Scope): string {
    const now = Math.max(this.#machine.clock(this.name), (this.#lastIn.get(scope) ?? 0) + 1);
    this.#lastIn.set(scope, now);
    return new Date(now).toISOString();
  }

  /** The next message's time, and its id: on Slack the time, which also names a thread. */
  next(scope: Scope): { readonly id: string; readonly at: string } {
    this.#count += 1;
    const at = this.timeIn(scope);
    if (this.name === "github") return { id: String(this.#count), at };
    const ms = Date.parse(at);
    const [whole, rest] = [Math.floor(ms / 1_000), 1_000 * (ms % 1_000) + (this.#count % 1_000)];
    return { id: `${whole}.${String(rest).padStart(6, "0")}`, at };
  }

  say(place: Place, words: Words): void {
    const said = this.said.get(place);
    if (said === undefined) this.said.set(place, [words]);
    else said.push(words);
  }

  isShut = (at: Place | Scope): boolean =>
    [...this.shut].some((shut) => at === shut || at.startsWith(`${shut}:`) || at.startsWith(`${shut}#`));

  /** What people did, as far as a reader finds it now. */
  readableNow(lagMs: number): readonly Readable[] {
    const { nowMs } = this.#machine.time;
    return this.readable.filter(({ saidAt }) => saidAt + lagMs <= nowMs);
  }

  /** The bot's messages that a reader finds now, oldest first. */
  shown(lagMs: number): readonly Posted[] {
    const { nowMs } = this.#machine.time;
    return this.posted.filter(({ at, deletedAt }) => at + lagMs <= nowMs && deletedAt === null);
  }

  /** Called when the effect happens. `standing`: the card that an earlier try posted. */
  perform(effect: PlatformEffect, standing: Posted | null, doubt: Doubt, lagMs: number): Outcome {
    const at = placeAt(effect.at);
    const done = this.done.get(at) ?? [];
    this.done.set(at, done);
    const reads = effect.kind === "read" || effect.kind === "permission" || effect.kind === "twin-posts";
    const privately = effect.kind === "tell" && this.name === "slack" && effect.answerVia !== undefined;
    if (!reads && !privately && this.isShut(effect.at)) return { ok: false, fault: closed };
    if (!reads) done.push({ effect: effect.id, kind: effect.kind });
    switch (effect.kind) {
      case "card": {
        const card =
          standing ?? this.posted.find(({ id, deletedAt }) => id === effect.message && deletedAt === null);
        if (card !== undefined) {
          card.view = effect.view;
          this.#machine.note(this.name, () => `card of ${effect.dispatch} now: ${headline(effect.view)}`);
          return this.#cardDone(card, effect.revision);
        }
        if (effect.message !== undefined) return { ok: false, fault: gone };
        const { id } = this.next(scopeOf(effect.at));
        const isPlace = effect.at.includes("#") || effect.at.split(":").length > 3;
        if (!isPlace && this.name === "github") return { ok: false, fault: gone };
        const place = isPlace ? effect.at : `${effect.at}:${id}`;
        return this.#cardDone(
          this.#post(effect.id, "card", id, place, effect.view, doubt, effect.dispatch),
          effect.revision,
        );
      }
      case "reply": {
        const { id } = this.#post(
          effect.id,
          "reply",
          this.next(scopeOf(at)).id,
          effect.at,
          effect.view,
          doubt,
        );
        return { ok: true, kind: "reply", message: id };
      }
      case "tell": {
        if (this.name === "github" && !effect.at.includes("#")) return { ok: false, fault: gone };
        const told = this.next(scopeOf(at)).id;
        this.#post(effect.id, "tell", told, at, effect.view, doubt, null, effect.person.id);
        // Slack's private messages can't be found again.
        return { ok: true, kind: "tell", ...(this.name === "github" ? { message: told } : {}) };
      }
      case "react": {
        const reactions = this.reactions.get(effect.message) ?? new Set();
        this.reactions.set(effect.message, reactions.add(effect.reaction));
        return { ok: true, kind: "react" };
      }
      case "label":
        this.labels.set(effect.at, effect.label);
        this.#machine.note(this.name, () => `${effect.at} is labelled ${effect.label}`);
        return { ok: true, kind: "label", revision: effect.revision };
      case "read": {
        const said = (this.said.get(effect.at) ?? []).filter(({ message }) => message !== effect.except);
        const before = said.filter(({ at }) => at <= effect.until);
        return {
          ok: true,
          kind: "read",
          messages: before.map(({ author, at, text }) => ({ author, at, text, bot: false })),
          omitted: 0,
        };
      }
      case "twin-posts": {
        const twins = this.shown(lagMs).filter(
          (one) => one.effect === effect.of && one.id !== effect.message,
        );
        for (const twin of twins) {
          twin.deletedAt = this.#machine.time.nowMs;
          this.#machine.note(this.name, () => `${twin.id}, a second message of ${effect.of}, is deleted`);
        }
        return { ok: true, kind: "twin-posts", ended: twins.map(({ id }) => id) };
      }
      case "permission":
        return {
          ok: true,
          kind: "permission",
          permission: this.name === "slack" ? "write" : (this.permissions.get(effect.person.id) ?? "none"),
        };
      default:
        return effect satisfies never;
    }
  }

  #cardDone(card: Posted, revision: number): Outcome {
    return { ok: true, kind: "card", revision, message: card.id, place: card.place };
  }

  #post(
    effect: string,
    kind: Posted["kind"],
    id: string,
    place: Place,
    view: View,
    doubt: Doubt,
    dispatch: string | null = null,
    person: string | null = null,
  ): Posted {
    const posted: Posted = {
      effect,
      kind,
      id,
      place,
      dispatch,
      person,
      view,
      at: this.#machine.time.nowMs,
      deletedAt: null,
      doubt,
    };
    this.posted.push(posted);
    this.#machine.note(this.name, () => `${kind} in ${place} (${effect}): ${headline(view)}`);
    return posted;
  }
}

/** The view's headline as plain text. */
export const headline = (view: View): string =>
  view.headline
    .map((span) => {
      if (typeof span === "string") return span;
      if ("strong" in span) return span.strong;
      if ("code" in span) return span.code;
      if ("person" in span) return `@${span.person.id}`;
      return span.label;
    })
    .join("");
