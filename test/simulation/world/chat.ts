/** A simulated platform, Slack-like or GitHub-like, behind the interface of its adapter. */

import type { PlatformEffect } from "#core/effect.ts";
import type { Fault, Outcome } from "#core/outcome.ts";
import type { Permission } from "#core/person.ts";
import { type Place, placeAt, type Scope } from "#core/place.ts";
import type { View } from "#core/view.ts";
import type { Attempt, Platform } from "#ports.ts";
import { isEarly, type Life, type Limit, type Machine } from "./machine.ts";

/** A message of the bot, public or private. */
export interface Posted {
  readonly effect: string;
  readonly kind: "card" | "reply" | "tell";
  readonly id: string;
  readonly place: Place;
  readonly dispatch: string | null;
  readonly person: string | null;
  view: View;
  readonly at: number;
}

interface Words {
  readonly author: string;
  readonly at: string;
  readonly text: string;
  readonly message: string;
}

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
  readonly reactions = new Map<string, Set<string>>();
  readonly labels = new Map<Place, string>();
  readonly said = new Map<Place, Words[]>();
  /** Places and scopes in which the bot may not post. */
  readonly shut = new Set<Place | Scope>();
  readonly permissions = new Map<string, Exclude<Permission, "unknown">>();
  /** Effects toward each place, in the order in which they took effect. */
  readonly done = new Map<Place, { readonly effect: string; readonly kind: string }[]>();
  readonly #machine: Machine;
  readonly #limits = new Map<string, Limit>();
  #count = 0;

  constructor(machine: Machine, name: "slack" | "github") {
    this.#machine = machine;
    this.name = name;
  }

  /** The id of the next message; on Slack it is its time, which also names a thread. */
  nextId(): string {
    this.#count += 1;
    const seconds = Math.floor(this.#machine.time.nowMs / 1_000);
    return this.name === "slack" ? `${seconds}.${String(this.#count).padStart(6, "0")}` : String(this.#count);
  }

  say(place: Place, words: Words): void {
    const said = this.said.get(place);
    if (said === undefined) this.said.set(place, [words]);
    else said.push(words);
  }

  isShut = (at: Place | Scope): boolean =>
    [...this.shut].some((shut) => at === shut || at.startsWith(`${shut}:`) || at.startsWith(`${shut}#`));

  /** The sending side of the adapter, for one process. */
  open(life: Life): Platform {
    return {
      name: this.name,
      check: async () => {},
      perform: async (effect, attempt) => {
        // Edits and posts are limited apart.
        const key = effect.kind === "card" && effect.message !== undefined ? "edit" : effect.kind;
        const limit = this.#limits.get(key);
        const { nowMs } = this.#machine.time;
        if (limit?.life === life.number && isEarly(limit, nowMs) && limit.at > this.#machine.jumpedAt) {
          this.#machine.violated(
            "rate limits are obeyed",
            `${effect.id} came ${limit.until - nowMs} ms too early`,
          );
        }
        const outcome = await this.#perform(life, effect, attempt);
        if (!outcome.ok) {
          const { fault } = outcome;
          if (fault.certainty === "unknown") this.unsure.add(effect.id);
          if (!fault.retryable) this.refused.add(effect.id);
          if (fault.limited === true) {
            const until = this.#machine.time.nowMs + (fault.retryAfterMs ?? 0);
            this.#limits.set(key, { life: life.number, until, at: this.#machine.time.nowMs });
          }
          this.#machine.note(this.name, () => `${effect.id} fails: ${fault.certainty} ${fault.reason}`);
        }
        return outcome;
      },
    };
  }

  async #perform(life: Life, effect: PlatformEffect, { uncertain }: Attempt): Promise<Outcome> {
    const ask = async (does: () => Outcome): Promise<Outcome> => {
      const answer = await this.#machine.request(life, this.name, does);
      switch (answer.kind) {
        case "answered":
          return answer.value;
        case "unreached":
          return { ok: false, fault: { certainty: "not-sent", retryable: true, reason: "No connection." } };
        case "lost":
          return { ok: false, fault: { certainty: "unknown", retryable: true, reason: "No answer." } };
        case "failed":
        case "nonsense":
          return {
            ok: false,
            fault: { certainty: "unknown", retryable: true, reason: `It ${answer.kind}.` },
          };
        case "limited":
          return {
            ok: false,
            fault: {
              certainty: "refused",
              retryable: true,
              reason: "Too many requests.",
              retryAfterMs: answer.retryAfterMs,
              limited: true,
            },
          };
        default:
          return answer satisfies never;
      }
    };
    // A request that was under way when its process died may have arrived; only the adapter's tries show it.
    if (uncertain) this.unsure.add(effect.id);
    const isPost =
      effect.kind === "reply" ||
      (effect.kind === "card" && effect.message === undefined) ||
      (effect.kind === "tell" && this.name === "github");
    if (!uncertain || !isPost) return ask(() => this.#does(effect, null));
    let found: Posted | undefined;
    const search = await ask(() => {
      found = this.posted.find((posted) => posted.effect === effect.id);
      return { ok: true, kind: "tell" };
    });
    if (!search.ok) return { ok: false, fault: { ...search.fault, certainty: "unknown" } };
    const there = found;
    if (there !== undefined && effect.kind !== "card") {
      return effect.kind === "reply"
        ? { ok: true, kind: "reply", message: there.id }
        : { ok: true, kind: "tell" };
    }
    return ask(() => this.#does(effect, there ?? null));
  }

  /** Called when the effect happens. `standing`: the card that an earlier try posted. */
  #does(effect: PlatformEffect, standing: Posted | null): Outcome {
    const at = placeAt(effect.at);
    const done = this.done.get(at) ?? [];
    this.done.set(at, done);
    const reads = effect.kind === "read" || effect.kind === "permission";
    const privately = effect.kind === "tell" && this.name === "slack" && effect.answerVia !== undefined;
    if (!reads && !privately && this.isShut(effect.at)) return { ok: false, fault: closed };
    if (!reads) done.push({ effect: effect.id, kind: effect.kind });
    switch (effect.kind) {
      case "card": {
        const card = standing ?? this.posted.find(({ id }) => id === effect.message);
        if (card !== undefined) {
          card.view = effect.view;
          this.#machine.note(this.name, () => `card of ${effect.dispatch} now: ${headline(effect.view)}`);
          return this.#cardDone(card, effect.revision);
        }
        if (effect.message !== undefined) return { ok: false, fault: gone };
        const id = this.nextId();
        const isPlace = effect.at.includes("#") || effect.at.split(":").length > 3;
        if (!isPlace && this.name === "github") return { ok: false, fault: gone };
        const place = isPlace ? effect.at : `${effect.at}:${id}`;
        return this.#cardDone(
          this.#post(effect.id, "card", id, place, effect.view, effect.dispatch),
          effect.revision,
        );
      }
      case "reply": {
        const { id } = this.#post(effect.id, "reply", this.nextId(), effect.at, effect.view, null);
        return { ok: true, kind: "reply", message: id };
      }
      case "tell":
        if (this.name === "github" && !effect.at.includes("#")) return { ok: false, fault: gone };
        this.#post(effect.id, "tell", this.nextId(), at, effect.view, null, effect.person.id);
        return { ok: true, kind: "tell" };
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
      case "twin-posts":
        return { ok: true, kind: "twin-posts", ended: [] };
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
    dispatch: string | null,
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
