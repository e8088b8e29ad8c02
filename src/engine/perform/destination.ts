import { type Effect, toApi, toEngine } from "#core/effect.ts";
import { platformOf } from "#core/place.ts";

/** The system that performs the effect: the API, the engine, or a platform by its name. */
export function systemOf(effect: Effect): string {
  switch (effect.kind) {
    case "create":
    case "follow-up":
    case "cancel":
    case "fetch":
    case "answer":
    case "list":
      return toApi;
    case "hand-over":
      return toEngine;
    case "card":
    case "reply":
    case "tell":
    case "react":
    case "label":
    case "read":
    case "permission":
      return platformOf(effect.at);
    default:
      return effect satisfies never;
  }
}

/**
 * The effects that may be tried: the first toward each destination, since one destination's happen in order,
 * one at a time, unless it comes after an effect that is still to perform.
 */
export function firstByDestination(effects: readonly Effect[]): ReadonlyMap<string, Effect> {
  const firsts = new Map<string, Effect>();
  for (const effect of effects) if (!firsts.has(effect.to)) firsts.set(effect.to, effect);
  const pending = new Set(effects.map(({ id }) => id));
  for (const [to, { after }] of firsts) if (after !== undefined && pending.has(after)) firsts.delete(to);
  return firsts;
}
