/** What a person may do in a repository. `unknown` until the platform was asked. */
export type Permission = "write" | "read" | "none" | "unknown";

export interface Person {
  readonly platform: string;
  /** A Slack user id, a GitHub login: what a mention contains. */
  readonly id: string;
  readonly name: string;
  /** A bot, a workflow, or this bot itself. */
  readonly bot: boolean;
  /** Absent where the platform grants none; then the allowlist alone decides. */
  readonly permission?: Permission;
}

/** An issue or pull request as it was when the event happened. */
export interface Subject {
  readonly title: string;
  readonly body: string;
  readonly url: string;
  readonly author: string;
  /** Absent: it is an issue. */
  readonly pullRequest?: true;
  /** Only some may write there; whether the bot may shows when it tries. */
  readonly locked?: true;
}
