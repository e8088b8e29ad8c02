import type { Octokit } from "@octokit/rest";
import type { IssueRef } from "#github/place.ts";

/** Comments on a page. */
export const pageSize = 100;

/** A comment on an issue or a pull request. */
export type Comment = Awaited<ReturnType<Octokit["rest"]["issues"]["listComments"]>>["data"][number];

/** One page of an issue's comments. */
export interface CommentPage {
  /** Oldest first. */
  readonly comments: readonly Comment[];
  /** Number of pages with older comments. */
  readonly pagesLeft: number;
  /** Time of the response by GitHub's clock, in milliseconds since the epoch; NaN if it gives none. */
  readonly servedAt: number;
}

const lastPageOf = (link: string | undefined): number =>
  Number(/[?&]page=(\d+)[^>]*>;\s*rel="last"/.exec(link ?? "")?.[1] ?? 1);

/** Yields the pages of the issue's comments, the newest first. Rejects as requests do. */
export async function* newestComments(
  octokit: Octokit,
  { owner, repo, number }: IssueRef,
): AsyncGenerator<CommentPage, void, undefined> {
  const fetchPage = (page: number) =>
    octokit.rest.issues.listComments({ owner, repo, issue_number: number, per_page: pageSize, page });
  // GitHub lists the oldest first, so the last page is read first.
  const first = await fetchPage(1);
  for (let page = lastPageOf(first.headers.link); page >= 1; page -= 1) {
    const { data, headers } = page === 1 ? first : await fetchPage(page);
    yield { comments: data, pagesLeft: page - 1, servedAt: Date.parse(headers.date ?? "") };
  }
}
