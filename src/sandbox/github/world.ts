/** The stand-in's state and its changes, each with the webhooks that GitHub would send. */

import type { Deliveries, Delivery } from "./deliveries.ts";
import { commentJson, issueJson, labelJson, repositoryJson, userJson } from "./payloads.ts";
import {
  type Comment,
  type GitHubSnapshot,
  type Issue,
  type IssueEvent,
  type Label,
  type Repository,
  type Role,
  same,
  timeOf,
  type User,
} from "./snapshot.ts";

/** The colour of labels that GitHub creates on its own. */
export const plainColor = "ededed";

function existing<T>(found: T | undefined, what: string): T {
  if (found === undefined) throw new Error(`there is no ${what}`);
  return found;
}

/** Creates the world around `state`. `find…` returns undefined for something missing; `…Of` and changes throw. */
export function createWorld({
  state,
  now,
  lagMs,
  deliver,
  onChange,
}: {
  state: GitHubSnapshot;
  now: () => number;
  lagMs: () => number;
  deliver: Deliveries["deliver"];
  onChange: () => void;
}) {
  const nextId = (): number => {
    state.lastId += 1;
    return state.lastId;
  };
  const time = (): string => timeOf(now());
  const formerNames = new Map<string, Repository>();
  const transferred = new Map<string, Issue>();
  const addressOf = (fullName: string, number: number): string => `${fullName}#${number}`.toLowerCase();
  /** Times of creation, to the millisecond. */
  const bornMs = new WeakMap<object, number>();
  function born<T extends object>(item: T): T {
    bornMs.set(item, now());
    return item;
  }

  const findUser = (login: string): User | undefined => state.users.find((user) => same(user.login, login));
  const findRepo = (fullName: string): Repository | undefined =>
    state.repos.find((repo) => same(`${repo.owner}/${repo.name}`, fullName));
  const findIssue = (fullName: string, number: number): Issue | undefined =>
    state.issues.find((issue) => same(issue.repo, fullName) && issue.number === number);
  const findComment = (fullName: string, id: number): Comment | undefined =>
    state.comments.find((comment) => same(comment.repo, fullName) && comment.id === id);
  const user = (login: string): User => existing(findUser(login), `user ${login}`);
  const repoOf = (fullName: string): Repository => existing(findRepo(fullName), `repository ${fullName}`);
  const issueOf = (fullName: string, number: number): Issue =>
    existing(findIssue(fullName, number), `issue ${fullName}#${number}`);
  const commentOf = (fullName: string, id: number): Comment =>
    existing(findComment(fullName, id), `comment ${id} in ${fullName}`);

  const labelsOf = (issue: Issue): Label[] => {
    const names = issue.labels;
    return repoOf(issue.repo).labels.filter((label) => names.some((name) => same(name, label.name)));
  };
  const commentsOf = (issue: Issue): Comment[] =>
    state.comments.filter((comment) => comment.repo === issue.repo && comment.issue === issue.number);
  const describeIssue = (issue: Issue) =>
    issueJson(issue, user(issue.user), labelsOf(issue), commentsOf(issue).length);
  const describeComment = (comment: Comment) =>
    commentJson(comment, issueOf(comment.repo, comment.issue), user(comment.user));

  const issueEvent = (issue: Issue): string => (issue.pullRequest ? "pull_request" : "issues");
  /** Sends the webhook of a change to the issue; `by` is the sender's login. */
  function announce(
    action: string,
    issue: Issue,
    by: string,
    extra: object = {},
    event = issueEvent(issue),
  ): Promise<Delivery> {
    const repo = repoOf(issue.repo);
    onChange();
    const subject =
      event === "pull_request"
        ? { number: issue.number, pull_request: describeIssue(issue) }
        : { issue: describeIssue(issue) };
    return deliver(event, {
      action,
      ...subject,
      ...extra,
      repository: repositoryJson(repo, user(repo.owner)),
      sender: userJson(user(by)),
    });
  }
  const issueEvents: IssueEvent[] = [];
  function record(kind: IssueEvent["kind"], issue: Issue, actor: string, label: Label | null = null): void {
    issueEvents.push(born({ id: nextId(), kind, issue, actor, label, createdAt: time() }));
  }

  function createLabel(repo: Repository, name: string, color: string, description: string | null): Label {
    const label = { id: nextId(), name, color, description };
    repo.labels.push(label);
    onChange();
    return label;
  }

  return {
    state,
    /** Oldest first. */
    issueEvents: issueEvents as readonly IssueEvent[],
    /** Whether lists show it already. */
    isListed: (item: object): boolean => (bornMs.get(item) ?? 0) + lagMs() <= now(),
    findUser,
    findRepo,
    /** The repository that had the name before it was renamed. */
    findRenamed: (fullName: string): Repository | undefined => formerNames.get(fullName.toLowerCase()),
    /** The issue to which this one was transferred. */
    findTransferred: (fullName: string, number: number): Issue | undefined =>
      transferred.get(addressOf(fullName, number)),
    findRepoById: (id: number): Repository | undefined => state.repos.find((repo) => repo.id === id),
    findIssue,
    findComment,
    issueOf,
    commentOf,
    labelsOf,
    commentsOf,
    describeIssue,
    describeComment,
    createLabel,

    roleOf: (repo: Repository, login: string): Role | "none" =>
      Object.entries(repo.roles).find(([name]) => same(name, login))?.[1] ?? (repo.private ? "none" : "read"),

    openIssue(fullName: string, by: string, title: string, body: string | null, pullRequest: boolean) {
      const repo = repoOf(fullName);
      repo.lastNumber += 1;
      const issue: Issue = {
        id: nextId(),
        repo: `${repo.owner}/${repo.name}`,
        number: repo.lastNumber,
        title,
        body,
        user: user(by).login,
        state: "open",
        locked: false,
        pullRequest,
        labels: [],
        createdAt: time(),
        updatedAt: time(),
      };
      state.issues.push(issue);
      return { issue, delivery: announce("opened", issue, by) };
    },

    /** Gives the repository another `owner/name`; the old one redirects. */
    renameRepo(fullName: string, to: string): void {
      const repo = repoOf(fullName);
      const [owner = "", name = ""] = to.split("/");
      const isInside = ({ repo: of }: { readonly repo: string }): boolean => same(of, fullName);
      const inside = [...state.issues.filter(isInside), ...state.comments.filter(isInside)];
      repo.owner = owner;
      repo.name = name;
      for (const item of inside) item.repo = to;
      formerNames.set(fullName.toLowerCase(), repo);
      formerNames.delete(to.toLowerCase());
      onChange();
    },

    /** Makes the issue anew in another repository, its comments with new ids, as GitHub does. */
    transferIssue(old: Issue, to: string, by: string) {
      const target = repoOf(to);
      target.lastNumber += 1;
      const labels = old.labels.filter((name) => target.labels.some((label) => same(label.name, name)));
      const repo = `${target.owner}/${target.name}`;
      const issue: Issue = { ...old, id: nextId(), repo, number: target.lastNumber, labels };
      state.issues.push(issue);
      const moved = commentsOf(old).map((comment) =>
        born({ ...comment, id: nextId(), repo, issue: issue.number, reactions: [] }),
      );
      state.comments.push(...moved);
      const changes = {
        new_issue: describeIssue(issue),
        new_repository: repositoryJson(target, user(target.owner)),
      };
      const delivery = announce("transferred", old, by, { changes });
      transferred.set(addressOf(old.repo, old.number), issue);
      const isOld = (comment: Comment): boolean => comment.repo === old.repo && comment.issue === old.number;
      state.comments = state.comments.filter((comment) => !isOld(comment));
      state.issues = state.issues.filter((other) => other !== old);
      return { issue, delivery };
    },

    closeIssue(issue: Issue, by: string): Promise<Delivery> {
      issue.state = "closed";
      issue.updatedAt = time();
      record("closed", issue, by);
      return announce("closed", issue, by);
    },

    /** Adds labels, and creates missing ones; only those that are new on the issue are announced. */
    addLabels(issue: Issue, names: readonly string[], by: string): Promise<Delivery>[] {
      const repo = repoOf(issue.repo);
      const fresh = names.filter((name) => !issue.labels.some((existing) => same(existing, name)));
      return fresh.map((name) => {
        const known = repo.labels.find((label) => same(label.name, name));
        const label = known ?? createLabel(repo, name, plainColor, null);
        issue.labels.push(label.name);
        issue.updatedAt = time();
        record("labeled", issue, by, label);
        return announce("labeled", issue, by, { label: labelJson(label) });
      });
    },

    /** Replaces all labels of the issue. */
    setLabels(issue: Issue, names: readonly string[], by: string): void {
      const gone = issue.labels.filter((old) => !names.some((name) => same(name, old)));
      for (const name of gone) void this.removeLabel(issue, name, by);
      this.addLabels(issue, names, by);
    },

    /** Returns undefined if the issue does not have the label. */
    removeLabel(issue: Issue, name: string, by: string): Promise<Delivery> | undefined {
      const label = labelsOf(issue).find((candidate) => same(candidate.name, name));
      if (label === undefined) return undefined;
      issue.labels = issue.labels.filter((existing) => !same(existing, name));
      issue.updatedAt = time();
      record("unlabeled", issue, by, label);
      return announce("unlabeled", issue, by, { label: labelJson(label) });
    },

    addComment(issue: Issue, body: string, by: string) {
      const at = time();
      const comment: Comment = born({
        id: nextId(),
        repo: issue.repo,
        issue: issue.number,
        user: user(by).login,
        body,
        createdAt: at,
        updatedAt: at,
        reactions: [],
      });
      state.comments.push(comment);
      issue.updatedAt = at;
      const announced = { comment: describeComment(comment) };
      return { comment, delivery: announce("created", issue, by, announced, "issue_comment") };
    },

    editComment(comment: Comment, body: string, by: string): Promise<Delivery> {
      const changes = { body: { from: comment.body } };
      comment.body = body;
      comment.updatedAt = time();
      const extra = { comment: describeComment(comment), changes };
      return announce("edited", issueOf(comment.repo, comment.issue), by, extra, "issue_comment");
    },

    deleteComment(comment: Comment, by: string): Promise<Delivery> {
      state.comments = state.comments.filter((other) => other !== comment);
      const extra = { comment: describeComment(comment) };
      return announce("deleted", issueOf(comment.repo, comment.issue), by, extra, "issue_comment");
    },

    /** GitHub sends no webhook for a reaction, and leaves the comment's time alone. */
    react(comment: Comment, content: string, by: string) {
      const existing = comment.reactions.find((one) => one.content === content && same(one.user, by));
      if (existing !== undefined) return { reaction: existing, created: false };
      const reaction = { id: nextId(), user: user(by).login, content };
      comment.reactions.push(reaction);
      onChange();
      return { reaction, created: true };
    },
  };
}

/** See `createWorld`. */
export type World = ReturnType<typeof createWorld>;
