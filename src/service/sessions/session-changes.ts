/** What has changed from one view of a session to a later one: only that is sent. */
import type { SessionEntry, SessionHead, SessionView } from "./session-view.ts";

/** A text made of an earlier one: `head`, what stood from `from` to `to` there, `tail`. In UTF-16 units. */
export interface Splice {
  readonly head: string;
  readonly from: number;
  readonly to: number;
  readonly tail: string;
}

export interface SessionChange {
  /** How many entries there are now. */
  readonly count: number;
  /** Whole, if anything in it has changed. */
  readonly view?: SessionHead;
  /** Those that are new or other than before, by index; a new one's text is made of "". */
  readonly entries?: readonly (Omit<SessionEntry, "text"> & {
    readonly index: number;
    readonly text: Splice;
  })[];
}

/** null: nothing. `before` null: everything. */
export function changeBetween(before: SessionView | null, after: SessionView): SessionChange | null {
  const entries = after.entries.flatMap((entry, index) => {
    const old = before?.entries[index];
    if (old !== undefined && isSame(old, entry)) return [];
    return [{ ...entry, index, text: spliceOf(old?.text ?? "", entry.text) }];
  });
  const isHeadNew = before === null || JSON.stringify(before.head) !== JSON.stringify(after.head);
  const count = after.entries.length;
  if (entries.length === 0 && !isHeadNew && count === before?.entries.length) return null;
  return { count, ...(isHeadNew ? { view: after.head } : {}), ...(entries.length > 0 ? { entries } : {}) };
}

const isSame = (one: SessionEntry, other: SessionEntry): boolean =>
  one === other ||
  (one.who === other.who && one.kind === other.kind && one.at === other.at && one.text === other.text);

/** Long enough to be found by chance in the wrong place seldom; then what is sent is longer, never wrong. */
const probeLength = 500;

/**
 * How `after` is made of `before`. Output grows at its end, and past the most that is kept it loses its
 * beginning as well: then its end is looked for in what came later.
 */
export function spliceOf(before: string, after: string): Splice {
  if (after.startsWith(before))
    return { head: "", from: 0, to: before.length, tail: after.slice(before.length) };
  const probe = before.slice(-probeLength);
  const found = probe.length < probeLength ? -1 : after.lastIndexOf(probe);
  if (found >= 0) {
    const end = found + probeLength;
    let kept = probeLength;
    while (kept < end && kept < before.length && before[before.length - kept - 1] === after[end - kept - 1]) {
      kept++;
    }
    const head = after.slice(0, end - kept);
    return { head, from: before.length - kept, to: before.length, tail: after.slice(end) };
  }
  let common = 0;
  while (common < before.length && before[common] === after[common]) common++;
  return { head: "", from: 0, to: common, tail: after.slice(common) };
}
