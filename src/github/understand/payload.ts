/** The fields of GitHub's webhook payloads that the bot uses, and no others: the rest may change as it likes. */
import { z } from "zod";

/** A deleted account is null. */
const account = z.object({ login: z.string().min(1), type: z.string().nullish() });
export type Account = z.infer<typeof account>;

export const issue = z.object({
  number: z.int().positive(),
  title: z.string(),
  body: z.string().nullish(),
  html_url: z.string(),
  user: account.nullish(),
  updated_at: z.string(),
  locked: z.boolean().nullish(),
  /** There if it is a pull request, which GitHub counts among the issues. */
  pull_request: z.looseObject({}).nullish(),
});
export type IssuePayload = z.infer<typeof issue>;

const repository = z.object({ full_name: z.string().min(3) });

export const withAction = z.object({ action: z.string() });

export const labeled = z.object({
  issue,
  label: z.object({ name: z.string() }),
  repository,
  sender: account,
});
export type Labeled = z.infer<typeof labeled>;

/** `pull_request` labeled: the same but for one field's name. */
export const labeledPullRequest = labeled
  .omit({ issue: true })
  .extend({ pull_request: issue })
  .transform(({ pull_request, ...rest }) => ({ ...rest, issue: { ...pull_request, pull_request: {} } }));

export const commented = z.object({
  issue,
  comment: z.object({
    id: z.int().positive(),
    body: z.string().nullish(),
    created_at: z.string(),
    user: account.nullish(),
  }),
  repository,
  sender: account,
});
export type Commented = z.infer<typeof commented>;

/** An attempt to deliver, as the lists of a webhook's deliveries have it. */
export const attempt = z.object({
  /** A number that may be larger than JavaScript's are exact. */
  id: z.union([z.number(), z.bigint()]).transform(String),
  guid: z.string().min(1),
  delivered_at: z.string(),
  redelivery: z.boolean(),
  status_code: z.number(),
  event: z.string(),
  action: z.string().nullish(),
  repository_id: z.union([z.number(), z.bigint()]).nullish().transform(String),
});
export type AttemptItem = z.infer<typeof attempt>;

export const deliveredPayload = z.object({ request: z.object({ payload: z.unknown() }) });

export const hook = z.object({
  id: z.int().positive(),
  active: z.boolean(),
  config: z.object({ url: z.string().nullish() }),
});

/** A comment as a repository's list of comments has it. */
export const listedComment = z.object({
  id: z.int().positive(),
  body: z.string().nullish(),
  created_at: z.string(),
  updated_at: z.string(),
  user: account.nullish(),
  issue_url: z.string(),
});
export type ListedComment = z.infer<typeof listedComment>;

/** What happened to an issue; only `labeled` has to have a label. */
export const issueEvent = z.object({
  id: z.number(),
  event: z.string(),
  created_at: z.string(),
  actor: account.nullish(),
  label: z.object({ name: z.string() }).nullish(),
  issue: issue.nullish(),
});
