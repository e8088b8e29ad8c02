/** What somebody may do in a repository. `unknown` until the platform was asked. */
export type Permission = "write" | "read" | "none" | "unknown";

export interface Person {
  readonly platform: string;
  /** How the platform names and mentions the person: a Slack user id, a GitHub login. */
  readonly id: string;
  readonly name: string;
  /** A bot, a workflow, or this bot itself. */
  readonly bot: boolean;
  /** Absent where the platform grants none; then the allowlist alone decides. */
  readonly permission?: Permission;
}

/** What an issue or pull request says of itself when the event happened. */
export interface Subject {
  readonly title: string;
  readonly body: string;
  readonly url: string;
  readonly author: string;
  /** Absent: it is an issue. */
  readonly pullRequest?: true;
  /** Only some may write there, and whether the bot is one of them shows when it tries. */
  readonly locked?: true;
}
