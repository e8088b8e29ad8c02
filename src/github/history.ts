/** What was said on an issue before the bot was asked. */
import type { Octokit } from "@octokit/rest";
import type { ContextMessage } from "../core/effect.ts";
import { hasMarker } from "./marker.ts";
import type { IssueRef } from "./place.ts";

const pageSize = 100;
/** Older comments are left out and counted. */
const kept = 100;

type Comment = Awaited<ReturnType<Octokit["rest"]["issues"]["listComments"]>>["data"][number];

/** `until` is RFC 3339; `except` a comment's id; `login` our own. */
export interface HistoryQuery {
  readonly until: string;
  readonly except: number | null;
  readonly login: string;
}

const isOurs = ({ user, body }: Comment, login: string): boolean =>
  hasMarker(body ?? "") && user?.login.toLowerCase() === login.toLowerCase();

const messageOf = ({ user, body, created_at }: Comment): ContextMessage => ({
  author: user?.login ?? "ghost",
  at: created_at,
  text: body ?? "",
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
  { until, except, login }: HistoryQuery,
): Promise<{ messages: readonly ContextMessage[]; omitted: number }> {
  const fetchPage = (page: number) =>
    octokit.rest.issues.listComments({ owner, repo, issue_number: number, per_page: pageSize, page });
  const untilMs = Date.parse(until);
  const messages: ContextMessage[] = [];
  let omitted = 0;

  /** Newest first. */
  function take(comments: readonly Comment[]): void {
    for (const comment of comments.toReversed()) {
      const late = Date.parse(comment.created_at) > untilMs;
      if (late || comment.id === except || isOurs(comment, login)) continue;
      if (Date.parse(comment.updated_at) > untilMs || messages.length >= kept) omitted += 1;
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
