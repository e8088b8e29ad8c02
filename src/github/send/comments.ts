/** The bot's comments: posted once, found again by their marker, edited in place. */
import type { Octokit } from "@octokit/rest";
import { z } from "zod";
import type { IssueRef, Repo } from "#github/place.ts";
import { isMarkedWith, markerOf } from "#github/understand/marker.ts";
import { maxCommentLength } from "./markdown.ts";

/** The bot's clock and GitHub's may differ by this. */
const clockMarginMs = 5 * 60_000;

const commentAnswer = z.object({ id: z.int().positive() });

/** Returns the number of characters that a comment has left below its marker. */
export const roomBeside = (effectId: string): number => maxCommentLength - markerOf(effectId).length - 1;

const bodyOf = (effectId: string, markdown: string): string => `${markerOf(effectId)}\n${markdown}`;

/** Posts a comment and resolves with its id. Rejects as requests do. */
export async function postComment(octokit: Octokit, issue: IssueRef, effectId: string, markdown: string) {
  const { owner, repo, number } = issue;
  const body = bodyOf(effectId, markdown);
  const { data } = await octokit.rest.issues.createComment({ owner, repo, issue_number: number, body });
  return commentAnswer.parse(data).id;
}

/** Replaces the text of comment `id`. `effectId`: the effect that posted it, so that its marker stays. */
export async function editComment(
  octokit: Octokit,
  { owner, repo }: Repo,
  id: number,
  effectId: string,
  markdown: string,
) {
  const body = bodyOf(effectId, markdown);
  await octokit.rest.issues.updateComment({ owner, repo, comment_id: id, body });
}

/** Returns the id of the comment that `effect` posted as `login`; null: there is none. `since` is RFC 3339. */
export async function findComment(
  octokit: Octokit,
  { owner, repo, number }: IssueRef,
  effect: { readonly id: string; readonly since: string },
  login: string,
): Promise<number | null> {
  const since = new Date(Date.parse(effect.since) - clockMarginMs).toISOString();
  const pages = octokit.paginate.iterator(octokit.rest.issues.listComments, {
    owner,
    repo,
    issue_number: number,
    since,
    per_page: 100,
  });
  for await (const { data } of pages) {
    const found = data.find(
      ({ user, body }) =>
        user?.login.toLowerCase() === login.toLowerCase() && isMarkedWith(body ?? "", effect.id),
    );
    if (found !== undefined) return found.id;
  }
  return null;
}
