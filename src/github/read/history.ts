/** What was said on an issue before the bot was asked. */
import type { Octokit } from "@octokit/rest";
import type { ContextMessage } from "#core/outcome.ts";
import type { IssueRef } from "#github/place.ts";
import { hasMarker } from "#github/understand/marker.ts";
import { visibleText } from "#github/understand/visible-text.ts";

const pageSize = 100;
/** Older comments are left out and counted. */
const kept = 100;

type Comment = Awaited<ReturnType<Octokit["rest"]["issues"]["listComments"]>>["data"][number];

/** `until` is RFC 3339; `except` the id of the comment that asked, later ones have higher ids; `login` our own. */
export interface HistoryQuery {
  readonly until: string;
  readonly except: number | null;
  readonly login: string;
}

const isOurs = ({ user, body }: Comment, login: string): boolean =>
  hasMarker(body ?? "") && user?.login.toLowerCase() === login.toLowerCase();

const isLate = ({ id, created_at }: Comment, { until, except }: HistoryQuery): boolean =>
  Date.parse(created_at) > Date.parse(until) || (except !== null && id >= except);

/** GitHub's times are whole seconds: an edit in the very second of `until` may have come after it. */
const isEditedLate = ({ created_at, updated_at }: Comment, { until }: HistoryQuery): boolean =>
  updated_at !== created_at && Date.parse(updated_at) >= Date.parse(until);

const messageOf = ({ user, body, created_at }: Comment): ContextMessage => ({
  author: user?.login ?? "ghost",
  at: created_at,
  text: visibleText(body ?? ""),
  bot: user?.type === "Bot" || (user?.login.endsWith("[bot]") ?? false),
});

const lastPageOf = (link: string | undefined): number =>
  Number(/[?&]page=(\d+)[^>]*>;\s*rel="last"/.exec(link ?? "")?.[1] ?? 1);

/**
 * The newest comments up to `until`, oldest first. A comment that was edited after `until` says what nobody
 * had seen when the bot was asked; it is left out and counted. Our own are left out.
 */
export async function readHistory(
  octokit: Octokit,
  { owner, repo, number }: IssueRef,
  query: HistoryQuery,
): Promise<{ messages: readonly ContextMessage[]; omitted: number }> {
  const fetchPage = (page: number) =>
    octokit.rest.issues.listComments({ owner, repo, issue_number: number, per_page: pageSize, page });
  const messages: ContextMessage[] = [];
  let omitted = 0;

  /** Newest first. */
  function take(comments: readonly Comment[]): void {
    for (const comment of comments.toReversed()) {
      if (isLate(comment, query) || isOurs(comment, query.login)) continue;
      if (isEditedLate(comment, query) || messages.length >= kept) omitted += 1;
      else messages.unshift(messageOf(comment));
    }
  }

  // GitHub lists oldest first, so the newest are read from the last page backwards.
  const first = await fetchPage(1);
  let page = lastPageOf(first.headers.link);
  for (; page > 1 && messages.length < kept; page -= 1) take((await fetchPage(page)).data);
  if (page <= 1) take(first.data);
  else omitted += page * pageSize;
  return { messages, omitted };
}
