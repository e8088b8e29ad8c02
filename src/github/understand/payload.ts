/** The fields of GitHub's webhook payloads and lists that the bot uses. */
import { z } from "zod";

/** A deleted account is null. */
const account = z.object({ login: z.string().min(1), type: z.string().nullish() });
/** A person, an App or an organization. */
export type Account = z.infer<typeof account>;

/** An issue or a pull request. */
export const issue = z.object({
  number: z.int().positive(),
  title: z.string(),
  body: z.string().nullish(),
  html_url: z.string(),
  user: account.nullish(),
  updated_at: z.string(),
  locked: z.boolean().nullish(),
  /** Present in a pull request, which GitHub treats as an issue. */
  pull_request: z.looseObject({}).nullish(),
});
/** An issue or a pull request. */
export type IssuePayload = z.infer<typeof issue>;

const comment = z.object({
  id: z.int().positive(),
  body: z.string().nullish(),
  created_at: z.string(),
  user: account.nullish(),
});

/** A repository; its id never changes. GitHub always gives it, but relays of webhooks may leave it out. */
export const repository = z.object({ id: z.int().positive().nullish(), full_name: z.string().min(3) });
/** A repository. */
export type RepositoryPayload = z.infer<typeof repository>;
const label = z.object({ name: z.string() });

/** Any payload with an action. */
export const withAction = z.object({ action: z.string() });

/** `issues` labeled. https://docs.github.com/webhooks/webhook-events-and-payloads#issues */
export const labeled = z.object({ issue, label, repository, sender: account });
/** A label that was added to an issue or a pull request. */
export type Labeled = z.infer<typeof labeled>;

/** `pull_request` labeled, with its fields renamed to those of `issues`. */
export const labeledPullRequest = labeled
  .omit({ issue: true })
  .extend({ pull_request: issue })
  .transform(({ pull_request, ...rest }) => ({ ...rest, issue: { ...pull_request, pull_request: {} } }));

/** `issues` transferred. https://docs.github.com/webhooks/webhook-events-and-payloads#issues */
export const transferred = z.object({
  issue: issue.pick({ number: true, updated_at: true }),
  changes: z.object({
    new_issue: z.object({ number: z.int().positive() }),
    new_repository: repository,
  }),
  repository,
  sender: account,
});
/** An issue that was transferred to another repository. */
export type Transferred = z.infer<typeof transferred>;

/** An issue's present address. */
export const address = z.object({ number: z.int().positive(), repository_url: z.string() });

/** `issue_comment` created. https://docs.github.com/webhooks/webhook-events-and-payloads#issue_comment */
export const commented = z.object({ issue, comment, repository, sender: account });
/** A new comment on an issue or a pull request. */
export type Commented = z.infer<typeof commented>;

/** An attempt to deliver an event, in the list of a webhook's deliveries. */
export const attempt = z.object({
  /** May be larger than JavaScript's exact integers. */
  id: z.union([z.number(), z.bigint()]).transform(String),
  guid: z.string().min(1),
  delivered_at: z.string(),
  redelivery: z.boolean(),
  status_code: z.number(),
  event: z.string(),
  action: z.string().nullish(),
  repository_id: z.union([z.number(), z.bigint()]).nullish().transform(String),
});
/** An attempt to deliver an event. */
export type AttemptItem = z.infer<typeof attempt>;

/** One delivery with its payload. */
export const deliveredPayload = z.object({ request: z.object({ payload: z.unknown() }) });

/** A repository's webhook. */
export const hook = z.object({
  id: z.int().positive(),
  active: z.boolean(),
  config: z.object({ url: z.string().nullish() }),
});

/** A comment in a repository's list of comments. */
export const listedComment = comment.extend({ updated_at: z.string(), issue_url: z.string() });
/** A comment in a repository's list of comments. */
export type ListedComment = z.infer<typeof listedComment>;

/** An entry of a repository's list of issue events; `labeled` has a label. */
export const issueEvent = z.object({
  id: z.number(),
  event: z.string(),
  created_at: z.string(),
  actor: account.nullish(),
  label: label.nullish(),
  issue: issue.nullish(),
});
