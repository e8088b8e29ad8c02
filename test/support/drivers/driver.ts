/** One platform over its real protocol, for the scenarios that are the same on every platform. */

/** A conversation that began with a request to the bot. */
export interface Conversation {
  /** The bot's messages in it, oldest first; the first is the card. */
  ours(): readonly string[];
  /** Replies without a mention; `isTaken` returns whether the bot has marked the reply. */
  reply(text: string): Promise<{ isTaken(): boolean }>;
  /** Gives a command in it, such as `cancel`. */
  command(words: string): Promise<void>;
  /** The platform delivers the request again, and the bot has answered the delivery. */
  deliverAgain(): Promise<void>;
}

export interface Driver {
  /** Requests a run, as a permitted person unless `as` is a stranger. The bot may be down. */
  ask(prompt: string, as?: "permitted" | "stranger"): Promise<Conversation>;
  /** The bot's messages to the stranger, private where the platform supports that. */
  toldStranger(): readonly string[];
  /** Texts that would notify people, be hidden or be a command on this platform. */
  readonly harmful: readonly (string | RegExp)[];
}
