import type { PlatformEffect } from "#core/effect.ts";
import type { Pace } from "#ports.ts";

/**
 * Returns the paces of the effect's writes; reading has none. GitHub asks for a second between writes and refuses
 * more than 80 a minute.
 * https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
 */
export function paces(effect: PlatformEffect): readonly Pace[] {
  switch (effect.kind) {
    case "card":
    case "reply":
    case "tell":
    case "react":
    case "label":
      return [
        { key: `writes ${effect.at.replace(/#.*$/, "")}`, count: 1, perMs: 1_000 },
        { key: "writes", count: 80, perMs: 60_000 },
      ];
    case "read":
    case "permission":
    case "twin-posts":
      return [];
    default:
      return effect satisfies never;
  }
}
