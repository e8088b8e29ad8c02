/** How the scenarios that are the same on every platform use one platform over its real wire. */

/** A conversation that began with a request to the bot. */
export interface Conversation {
  /** The bot's messages in it, oldest first; the first is the card. */
  ours(): readonly string[];
  /** Writes into it without a mention; `isTaken` tells whether the bot has marked that message. */
  reply(text: string): Promise<{ isTaken(): boolean }>;
  /** Gives a command in it, such as `cancel`. */
  command(words: string): Promise<void>;
  /** The platform delivers the request again, and the bot has answered the delivery. */
  deliverAgain(): Promise<void>;
}

export interface Driver {
  /** Asks for a run, as a person who may unless `as` is a stranger. The bot may be down. */
  ask(prompt: string, as?: "permitted" | "stranger"): Promise<Conversation>;
  /** What the stranger was told, privately where the platform has that. */
  toldStranger(): readonly string[];
  /** Text that would notify many people, or hide, or be obeyed, there. */
  readonly harmful: readonly (string | RegExp)[];
}
