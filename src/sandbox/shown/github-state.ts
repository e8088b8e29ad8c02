import type { Comment, GitHubSnapshot, Issue, Role } from "#sandbox/github/snapshot.ts";
import { emojiOf } from "./emoji.ts";
import { markdown } from "./markdown.ts";
import type { GitHubState, PageComment, PageIssue } from "./page-state.ts";

/** The page shows the newest issues. */
const mostIssues = 100;

/** https://docs.github.com/en/organizations/managing-user-access-to-your-organizations-repositories */
const labelling: ReadonlySet<Role> = new Set(["admin", "maintain", "write", "triage"]);

/** Whether the person's role may add and remove labels. */
export const mayLabel = (snapshot: GitHubSnapshot, login: string): boolean => {
  const role = snapshot.repos[0]?.roles[login];
  return role !== undefined && labelling.has(role);
};

/** Returns the first repository for the page. */
export function gitHubState(snapshot: GitHubSnapshot): GitHubState {
  const { repos, users, bot } = snapshot;
  const [repository] = repos;
  const repo = repository === undefined ? "" : `${repository.owner}/${repository.name}`;
  const people = users.filter(
    ({ login, type }) => type === "User" && login !== bot && login !== repository?.owner,
  );
  return {
    repo,
    people: people.map(({ login }) => ({
      login,
      role: repository?.roles[login] ?? "none",
      mayLabel: mayLabel(snapshot, login),
    })),
    issues: snapshot.issues
      .filter((issue) => issue.repo === repo)
      .toSorted((one, other) => other.number - one.number)
      .slice(0, mostIssues)
      .map((issue) => pageIssue(issue, snapshot)),
  };
}

function pageIssue(issue: Issue, snapshot: GitHubSnapshot): PageIssue {
  const labels = snapshot.repos[0]?.labels ?? [];
  const comments = snapshot.comments.filter(
    (comment) => comment.repo === issue.repo && comment.issue === issue.number,
  );
  return {
    number: issue.number,
    title: issue.title,
    author: issue.user,
    atMs: Date.parse(issue.createdAt),
    state: issue.state,
    labels: labels
      .filter(({ name }) => issue.labels.includes(name))
      .map(({ name, color }) => ({ name, color: /^[\da-f]{6}$/i.test(color) ? color : "ededed" })),
    body: markdown(issue.body ?? "", { hideComments: true }),
    comments: comments.map((comment) => pageComment(comment, snapshot.bot)),
  };
}

function pageComment(comment: Comment, bot: string): PageComment {
  const reactions = new Map<string, string[]>();
  for (const { content, user } of comment.reactions) {
    reactions.set(content, [...(reactions.get(content) ?? []), user]);
  }
  return {
    id: comment.id,
    author: comment.user,
    bot: comment.user === bot || comment.user.endsWith("[bot]"),
    atMs: Date.parse(comment.createdAt),
    edited: comment.updatedAt !== comment.createdAt,
    body: markdown(comment.body, { hideComments: true }),
    reactions: [...reactions].map(([content, by]) => ({ emoji: emojiOf(content) ?? content, by })),
  };
}
