/** A person's permission in a repository; `unknown` until the platform was asked. */
export type Permission = "write" | "read" | "none" | "unknown";

/** The author of an event. */
export interface Person {
  readonly platform: string;
  /** The id in a mention: a Slack user id, a GitHub login. */
  readonly id: string;
  readonly name: string;
  /** A bot, a workflow or this bot. */
  readonly bot: boolean;
  /** Absent on platforms without permissions, where the allowlist alone decides. */
  readonly permission?: Permission;
}

/** An issue or pull request at the time of the event. */
export interface Subject {
  readonly title: string;
  readonly body: string;
  readonly url: string;
  readonly author: string;
  /** Absent for an issue. */
  readonly pullRequest?: true;
  /** Only some people may write there; the bot learns by trying whether it may. */
  readonly locked?: true;
}
