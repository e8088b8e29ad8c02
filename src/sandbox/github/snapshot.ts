/** Everything that the stand-in remembers, as plain JSON. Times are RFC 3339 with whole seconds, as GitHub's. */
import { z } from "zod";

const text = z.string();
const number = z.number();

const role = z.enum(["admin", "maintain", "write", "triage", "read"]);
/** What a person may do in a repository, most first. */
export type Role = z.infer<typeof role>;

const user = z.object({ login: text, id: number, type: z.enum(["User", "Bot"]) });
/** An account. */
export type User = z.infer<typeof user>;

const label = z.object({
  id: number,
  name: text,
  /** Six hexadecimal digits. */
  color: text,
  description: text.nullable(),
});
/** A label of a repository. */
export type Label = z.infer<typeof label>;

const repository = z.object({
  id: number,
  owner: text,
  name: text,
  private: z.boolean(),
  /** By login. People who are not here may read a public repository, and don't see a private one. */
  roles: z.record(text, role),
  labels: z.array(label),
  /** Number of the newest issue or pull request. */
  lastNumber: number,
});
/** A repository. */
export type Repository = z.infer<typeof repository>;

const issue = z.object({
  id: number,
  /** `owner/name`. */
  repo: text,
  number,
  title: text,
  body: text.nullable(),
  user: text,
  state: z.enum(["open", "closed"]),
  locked: z.boolean(),
  pullRequest: z.boolean(),
  /** Names. */
  labels: z.array(text),
  createdAt: text,
  updatedAt: text,
});
/** An issue or a pull request. */
export type Issue = z.infer<typeof issue>;

const comment = z.object({
  id: number,
  repo: text,
  issue: number,
  user: text,
  body: text,
  createdAt: text,
  updatedAt: text,
  reactions: z.array(z.object({ id: number, user: text, content: text })),
});
/** A comment on an issue. */
export type Comment = z.infer<typeof comment>;

/** The shape of `GitHubSnapshot`, to check what is read from a file. */
export const gitHubSnapshot = z.object({
  /** Login that the personal access token belongs to. */
  bot: text,
  users: z.array(user),
  repos: z.array(repository),
  issues: z.array(issue),
  comments: z.array(comment),
  /** The newest id of anything. */
  lastId: number,
});
/** The saved state. */
export type GitHubSnapshot = z.infer<typeof gitHubSnapshot>;

/** Formats a time in milliseconds since the epoch. */
export const timeOf = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

/** GitHub compares logins, and names of repositories and labels, without regard to case. */
export const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** An entry of GitHub's list of issue events, which is not saved. */
export interface IssueEvent {
  readonly id: number;
  readonly kind: "labeled" | "unlabeled" | "closed";
  readonly issue: Issue;
  readonly actor: string;
  readonly label: Label | null;
  readonly createdAt: string;
}

/** One private repository `octo/app`; alice and bob write, mallory reads, and the bot is a collaborator. */
export function defaultSnapshot(): GitHubSnapshot {
  const logins = ["octo", "alice", "bob", "mallory", "agent-runs-bot"];
  return {
    bot: "agent-runs-bot",
    users: logins.map((login, index) => ({ login, id: index + 1, type: "User" })),
    repos: [
      {
        id: 100,
        owner: "octo",
        name: "app",
        private: true,
        roles: { octo: "admin", alice: "write", bob: "write", mallory: "read", "agent-runs-bot": "write" },
        labels: [{ id: 101, name: "agent", color: "5319e7", description: "Hand the issue to an agent" }],
        lastNumber: 0,
      },
    ],
    issues: [],
    comments: [],
    lastId: 1000,
  };
}
