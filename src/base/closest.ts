import { distance } from "fastest-levenshtein";

/** Words at most this Levenshtein distance apart count as misspellings. */
const mostEdits = 2;

/** Returns the known word closest to `word`; undefined if none is within two edits. */
export function closest<Word extends string>(word: string, known: readonly Word[]): Word | undefined {
  let best: Word | undefined;
  let fewest = mostEdits + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) >= fewest) continue;
    const edits = distance(word, candidate);
    if (edits >= fewest) continue;
    best = candidate;
    fewest = edits;
  }
  return best;
}
