import type { ContextMessage } from "./outcome.ts";

/** The most earlier messages that a prompt quotes; more would drown the request. */
export const mostContextMessages = 100;

/** A message that was in a place before the request to the bot. */
export interface EarlierMessage {
  readonly message: ContextMessage;
  /** It was edited after the request, so the requester may not have seen its text. */
  readonly editedLate: boolean;
  /** It is the first message of its place. */
  readonly opening?: boolean;
}

/** Returns the opening and the newest messages, oldest first as in `earlier`; `unread` counts more omitted ones. */
export function contextOf(
  earlier: readonly EarlierMessage[],
  unread: number,
): { readonly messages: readonly ContextMessage[]; readonly omitted: number } {
  const unchanged = earlier.filter(({ editedLate }) => !editedLate);
  const opening = unchanged.slice(0, unchanged[0]?.opening ? 1 : 0);
  const newest = unchanged.slice(opening.length).slice(opening.length - mostContextMessages);
  const kept = [...opening, ...newest];
  return {
    messages: kept.map(({ message }) => message),
    omitted: earlier.length - kept.length + unread,
  };
}
