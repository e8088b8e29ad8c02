/** The JSON of REST answers and webhooks, with the fields that a bot may read. */
import type { Comment, Issue, IssueEvent, Label, Repository, User } from "./snapshot.ts";

const site = "https://github.com";

/** An account. */
export const userJson = (user: User) => ({
  login: user.login,
  id: user.id,
  type: user.type,
  site_admin: false,
  html_url: `${site}/${user.login}`,
});

/** A label. */
export const labelJson = (label: Label) => ({
  id: label.id,
  name: label.name,
  color: label.color,
  default: false,
  description: label.description,
});

/** A repository. */
export const repositoryJson = (repo: Repository, owner: User) => ({
  id: repo.id,
  name: repo.name,
  full_name: `${repo.owner}/${repo.name}`,
  private: repo.private,
  owner: userJson(owner),
  html_url: `${site}/${repo.owner}/${repo.name}`,
});

const issueUrl = (issue: Issue): string =>
  `${site}/${issue.repo}/${issue.pullRequest ? "pull" : "issues"}/${issue.number}`;

/** An issue or a pull request. */
export const issueJson = (issue: Issue, author: User, labels: readonly Label[], comments: number) => ({
  id: issue.id,
  number: issue.number,
  title: issue.title,
  body: issue.body,
  state: issue.state,
  locked: issue.locked,
  user: userJson(author),
  labels: labels.map(labelJson),
  comments,
  created_at: issue.createdAt,
  updated_at: issue.updatedAt,
  html_url: issueUrl(issue),
  repository_url: `https://api.github.com/repos/${issue.repo}`,
  ...(issue.pullRequest ? { pull_request: { html_url: issueUrl(issue) } } : {}),
});

/** A comment. */
export const commentJson = (comment: Comment, issue: Issue, author: User) => ({
  id: comment.id,
  body: comment.body,
  user: userJson(author),
  created_at: comment.createdAt,
  updated_at: comment.updatedAt,
  html_url: `${issueUrl(issue)}#issuecomment-${comment.id}`,
  issue_url: `https://api.github.com/repos/${issue.repo}/issues/${issue.number}`,
});

/** An issue event. `actor` is undefined if the account is gone; `issue` comes from `issueJson`. */
export const eventJson = (event: IssueEvent, actor: User | undefined, issue: object) => ({
  id: event.id,
  event: event.kind,
  actor: actor === undefined ? null : userJson(actor),
  created_at: event.createdAt,
  commit_id: null,
  commit_url: null,
  ...(event.label === null ? {} : { label: { name: event.label.name, color: event.label.color } }),
  issue,
});
