/** The bot's identity on GitHub. */
export interface Identity {
  /** Login under which its comments appear: `octocat`, or `my-app[bot]`. */
  readonly login: string;
  /** The name that people write after `@` to mention it. */
  readonly mention: string;
}

/** Resolves with the bot's identity. Rejects as requests do. */
export type AskIdentity = () => Promise<Identity>;
