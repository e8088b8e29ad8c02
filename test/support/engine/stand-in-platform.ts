import type { PlatformEffect } from "#core/effect.ts";
import type { Outcome } from "#core/outcome.ts";
import { placeAt } from "#core/place.ts";
import type { Attempt, Platform } from "#ports.ts";

export interface StandInPlatform extends Platform {
  /** All tries, in the order of their starts. */
  readonly tries: { readonly id: string; readonly effect: PlatformEffect; readonly uncertain: boolean }[];
  /** The outcome of each try; a success by default. */
  answer: (effect: PlatformEffect, attempt: Attempt) => Promise<Outcome> | Outcome;
}

export function createStandInPlatform(name: string): StandInPlatform {
  return {
    name,
    tries: [],
    answer: success,
    async perform(effect, attempt) {
      this.tries.push({ id: effect.id, effect, uncertain: attempt.uncertain });
      return this.answer(effect, attempt);
    },
    check: async () => {},
  };
}

export function success(effect: PlatformEffect): Outcome {
  switch (effect.kind) {
    case "card": {
      const { revision, at } = effect;
      return { ok: true, kind: "card", revision, message: "m", place: placeAt(at) };
    }
    case "reply":
      return { ok: true, kind: "reply", message: "m" };
    case "label":
      return { ok: true, kind: "label", revision: effect.revision };
    case "read":
      return { ok: true, kind: "read", messages: [], omitted: 0 };
    case "permission":
      return { ok: true, kind: "permission", permission: "write" };
    case "twin-posts":
      return { ok: true, kind: "twin-posts", ended: [] };
    case "tell":
    case "react":
      return { ok: true, kind: effect.kind };
    default:
      return effect satisfies never;
  }
}
