/** Everything that the stand-in remembers, as plain JSON. Times are RFC 3339 with whole seconds, as GitHub's. */

export type Role = "admin" | "maintain" | "write" | "triage" | "read";

export interface User {
  login: string;
  id: number;
  type: "User" | "Bot";
}

export interface Label {
  id: number;
  name: string;
  /** Six hexadecimal digits. */
  color: string;
  description: string | null;
}

export interface Repository {
  id: number;
  owner: string;
  name: string;
  private: boolean;
  /** By login. Whoever is missing has no access to a private repository, and reads a public one. */
  roles: Record<string, Role>;
  labels: Label[];
  /** Number of the newest issue or pull request. */
  lastNumber: number;
}

export interface Issue {
  id: number;
  /** `owner/name`. */
  repo: string;
  number: number;
  title: string;
  body: string | null;
  user: string;
  state: "open" | "closed";
  locked: boolean;
  pullRequest: boolean;
  /** Names. */
  labels: string[];
  createdAt: string;
  updatedAt: string;
}

export interface Reaction {
  id: number;
  user: string;
  content: string;
}

export interface Comment {
  id: number;
  repo: string;
  issue: number;
  user: string;
  body: string;
  createdAt: string;
  updatedAt: string;
  reactions: Reaction[];
}

/** What GitHub's list of issue events tells of; it is no part of the snapshot. */
export interface IssueEvent {
  readonly id: number;
  readonly kind: "labeled" | "unlabeled" | "closed";
  readonly issue: Issue;
  readonly actor: string;
  readonly label: Label | null;
  readonly createdAt: string;
}

export interface GitHubSnapshot {
  /** Login that the personal access token belongs to. */
  bot: string;
  users: User[];
  repos: Repository[];
  issues: Issue[];
  comments: Comment[];
  /** The newest id of anything. */
  lastId: number;
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
