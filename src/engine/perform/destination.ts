import { type Effect, isWatch, toApi, toEngine } from "#core/effect.ts";
import { platformOf } from "#core/place.ts";

/** Returns the system that performs the effect: the API, the engine or a platform, by name. */
export function systemOf(effect: Effect): string {
  if ("at" in effect) return platformOf(effect.at);
  return effect.kind === "hand-over" ? toEngine : toApi;
}

const isEdit = (effect: Effect): boolean => effect.kind === "card" && effect.message !== undefined;

/** Returns whether the effect only brings up to date what people already have. */
export const isUpkeep = (effect: Effect): boolean =>
  isEdit(effect) || effect.kind === "label" || isWatch(effect);

/**
 * Returns the name of the effect's limit, by system and kind: a service that refuses creates may still allow reads,
 * and one that refuses edits may allow posts.
 */
export const limitOf = (effect: Effect): string =>
  `${systemOf(effect)} ${isEdit(effect) ? "edit" : effect.kind}`;

/** Returns the first effect toward each destination, unless it must wait for another pending effect. */
export function firstByDestination(effects: readonly Effect[]): ReadonlyMap<string, Effect> {
  const firsts = new Map<string, Effect>();
  for (const effect of effects) if (!firsts.has(effect.to)) firsts.set(effect.to, effect);
  const pending = new Set(effects.map(({ id }) => id));
  for (const [to, { after }] of firsts) if (after !== undefined && pending.has(after)) firsts.delete(to);
  return firsts;
}
