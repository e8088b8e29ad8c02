import type { ContextMessage } from "./outcome.ts";

/** Most earlier messages that a prompt quotes; more would drown the request. */
export const mostContextMessages = 100;

/** A message that was written in a place before the bot was asked. */
export interface EarlierMessage {
  readonly message: ContextMessage;
  /** It was edited since, so it says something that nobody had seen when the bot was asked. */
  readonly editedLate: boolean;
  /** It opens the place and says what it is about. */
  readonly opening?: boolean;
}

/**
 * Returns the messages that an agent gets to read, oldest first: the opening one and the newest, none that was
 * edited late. `earlier` is oldest first; `unread` counts messages that the adapter did not read.
 */
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
