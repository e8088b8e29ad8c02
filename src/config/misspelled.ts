import { type Given, names } from "./environment.ts";

/** Warns of variables that look like a misspelling of one of ours; others may well belong to somebody else. */
export function misspelled(env: Given): string[] {
  const known: readonly string[] = names;
  return Object.keys(env)
    .filter((name) => /^(AGENT|SLACK|GITHUB)_/.test(name) && !known.includes(name))
    .flatMap((name) => {
      const meant = known.find((one) => distance(name, one) <= 2);
      return meant === undefined ? [] : [`${name} means nothing here: is ${meant} meant?`];
    });
}

/** How many letters must be changed, added or left out to make one word of the other (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [column, against] of [...other].entries()) {
      const same = (row[column] ?? 0) + (letter === against ? 0 : 1);
      next.push(Math.min(same, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
