import { closest } from "#base/closest.ts";
import { type Given, names } from "./environment.ts";

/** Warns of variables that look like a misspelling of one of ours; others may well belong to somebody else. */
export function misspelled(env: Given): string[] {
  const known: readonly string[] = names;
  return Object.keys(env)
    .filter((name) => /^(AGENT|SLACK|GITHUB)_/.test(name) && !known.includes(name))
    .flatMap((name) => {
      const meant = closest(name, known);
      return meant === undefined ? [] : [`${name} means nothing here: is ${meant} meant?`];
    });
}
