/** Reads the comments on an issue from before the request. */
import type { Octokit } from "@octokit/rest";
import { contextOf, type EarlierMessage, mostContextMessages } from "#core/context.ts";
import type { ContextMessage } from "#core/outcome.ts";
import type { IssueRef } from "#github/place.ts";
import { hasMarker } from "#github/understand/marker.ts";
import { visibleText } from "#github/understand/visible-text.ts";
import { type Comment, newestComments, pageSize } from "./newest-comments.ts";

/** Which comments to read. */
export interface HistoryQuery {
  /** RFC 3339. */
  readonly until: string;
  /** Id of the comment with the request; later ones have higher ids. */
  readonly except: number | null;
  /** The bot's own login. */
  readonly login: string;
}

const isOurs = ({ user, body }: Comment, login: string): boolean =>
  hasMarker(body ?? "") && user?.login.toLowerCase() === login.toLowerCase();

const isLate = ({ id, created_at }: Comment, { until, except }: HistoryQuery): boolean =>
  Date.parse(created_at) > Date.parse(until) || (except !== null && id >= except);

/** GitHub's times are whole seconds: an edit in the same second as `until` may have come after it. */
const isEditedLate = ({ created_at, updated_at }: Comment, { until }: HistoryQuery): boolean =>
  updated_at !== created_at && Date.parse(updated_at) >= Date.parse(until);

const messageOf = ({ user, body, created_at }: Comment): ContextMessage => ({
  author: user?.login ?? "ghost",
  at: created_at,
  text: visibleText(body ?? ""),
  bot: user?.type === "Bot" || (user?.login.endsWith("[bot]") ?? false),
});

/** Reads the newest comments up to `until` without the bot's own; see `contextOf`. Rejects as requests do. */
export async function readHistory(
  octokit: Octokit,
  issue: IssueRef,
  query: HistoryQuery,
): Promise<ReturnType<typeof contextOf>> {
  const earlier: EarlierMessage[] = [];
  for await (const { comments, pagesLeft } of newestComments(octokit, issue)) {
    const said = comments.filter((comment) => !isLate(comment, query) && !isOurs(comment, query.login));
    const read = said.map((one) => ({ message: messageOf(one), editedLate: isEditedLate(one, query) }));
    earlier.unshift(...read);
    const unchanged = earlier.filter(({ editedLate }) => !editedLate).length;
    if (unchanged >= mostContextMessages) return contextOf(earlier, pagesLeft * pageSize);
  }
  return contextOf(earlier, 0);
}
