/** The differences between two views of a session: only they are sent. */
import type { SessionChange, SessionEntry, Splice } from "./session-message.ts";
import type { SessionView } from "./session-view.ts";

/** The change from one view to a later one; null if nothing changed. From null, everything is new. */
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

/** Long enough to be rarely found in the wrong place. A wrong place makes the splice longer, never wrong. */
const probeLength = 500;

/**
 * The splice from `before` to `after`. Output grows at its end; past its limit it also loses its beginning, so
 * the end of the earlier text is searched for in the later one.
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
