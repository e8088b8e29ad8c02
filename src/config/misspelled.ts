import { closest } from "#base/closest.ts";
import type { Given } from "#ports.ts";

const firstWord = (name: string): string => name.slice(0, name.indexOf("_") + 1);

/** Returns warnings about variables that are similar to a `known` one and share its first word. */
export function misspelled(environment: Given, known: readonly string[]): string[] {
  return Object.keys(environment)
    .filter((name) => !known.includes(name))
    .flatMap((name) => {
      const alike = known.filter((one) => firstWord(one) === firstWord(name));
      const meant = closest(name, alike);
      return meant === undefined ? [] : [`${name} is not a setting. Did you mean ${meant}?`];
    });
}
