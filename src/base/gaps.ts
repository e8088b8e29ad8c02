/** Sentences about what can't be read back of the time while the bot was away. */

/** So many names are written out. */
const mostNamed = 3;

/** A list of gaps, which lasts as long as the process. */
export interface Gaps {
  /** Notes that the target can't be read for this reason, a sentence. */
  unreadable(target: string, reason: string): void;
  /** Notes that the target was read. */
  read(target: string): void;
  /** Drops the targets that are not among these any more. */
  keepOnly(targets: Iterable<string>): void;
  /** Adds a gap that stays; a later sentence replaces the one under the same key. */
  add(key: string, sentence: string): void;
  sentences(): readonly string[];
}

/** Creates the list; `nameOf` returns a target's name for people. */
export function createGaps(nameOf: (target: string) => string): Gaps {
  const unreadable = new Map<string, string>();
  const lasting = new Map<string, string>();
  return {
    unreadable: (target, reason) => void unreadable.set(target, reason),
    read: (target) => void unreadable.delete(target),
    keepOnly(targets) {
      const wanted = new Set(targets);
      for (const target of unreadable.keys()) if (!wanted.has(target)) unreadable.delete(target);
    },
    add: (key, sentence) => void lasting.set(key, sentence),
    sentences() {
      const byReason = Map.groupBy(unreadable.keys(), (target) => unreadable.get(target) ?? "");
      return [
        ...lasting.values(),
        ...[...byReason].map(([reason, targets]) => {
          const names = [...new Set(targets.map(nameOf))];
          const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : "";
          const named = `${names.slice(0, mostNamed).join(", ")}${more}`;
          return `What happened while the bot was away can't be read back in ${named}. ${reason}`;
        }),
      ];
    },
  };
}
