/** The state that the server sends to the page, and the types that its scripts use. */
import type { PageBlock } from "./blocks.ts";
import type { RichNode } from "./rich-text.ts";

/** A message in Slack. */
export interface PageMessage {
  readonly ts: string;
  readonly author: string;
  readonly bot: boolean;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly edited: boolean;
  /** Name of the only person who sees it; null: everybody does. */
  readonly onlyFor: string | null;
  readonly blocks: readonly PageBlock[];
  readonly reactions: readonly { readonly emoji: string; readonly by: readonly string[] }[];
  /** Oldest first; always empty in a reply. */
  readonly replies: readonly PageMessage[];
}

/** A channel in Slack. */
export interface PageChannel {
  readonly id: string;
  readonly name: string;
  readonly hasBot: boolean;
  /** Number of older messages that are not shown. */
  readonly omitted: number;
  /** Oldest first. */
  readonly messages: readonly PageMessage[];
}

/** The Slack workspace. */
export interface SlackState {
  readonly people: readonly string[];
  /** The bot's name, for mentions. */
  readonly bot: string;
  readonly channels: readonly PageChannel[];
}

/** A comment on GitHub. */
export interface PageComment {
  readonly id: number;
  readonly author: string;
  readonly bot: boolean;
  readonly atMs: number;
  readonly edited: boolean;
  readonly body: readonly RichNode[];
  readonly reactions: readonly { readonly emoji: string; readonly by: readonly string[] }[];
}

/** An issue on GitHub. */
export interface PageIssue {
  readonly number: number;
  readonly title: string;
  readonly author: string;
  readonly atMs: number;
  readonly state: "open" | "closed";
  readonly labels: readonly { readonly name: string; readonly color: string }[];
  readonly body: readonly RichNode[];
  /** Oldest first. */
  readonly comments: readonly PageComment[];
}

/** The GitHub repository. */
export interface GitHubState {
  /** `owner/name`. */
  readonly repo: string;
  /** `mayLabel`: the role may add and remove labels. */
  readonly people: readonly { readonly login: string; readonly role: string; readonly mayLabel: boolean }[];
  /** Newest first. */
  readonly issues: readonly PageIssue[];
}
