import { type Effect, toApi, toEngine } from "#core/effect.ts";
import { platformOf } from "#core/place.ts";

/** The system that performs the effect: the API, the engine, or a platform by its name. */
export function systemOf(effect: Effect): string {
  if ("at" in effect) return platformOf(effect.at);
  return effect.kind === "hand-over" ? toEngine : toApi;
}

/**
 * The effects that may be tried now: the first toward each destination, unless it comes after an effect that
 * is still pending. Effects toward one destination are performed in order, one at a time.
 */
export function firstByDestination(effects: readonly Effect[]): ReadonlyMap<string, Effect> {
  const firsts = new Map<string, Effect>();
  for (const effect of effects) if (!firsts.has(effect.to)) firsts.set(effect.to, effect);
  const pending = new Set(effects.map(({ id }) => id));
  for (const [to, { after }] of firsts) if (after !== undefined && pending.has(after)) firsts.delete(to);
  return firsts;
}
