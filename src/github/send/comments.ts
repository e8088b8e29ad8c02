/** The bot's comments: posted once, found again by their marker, edited in place. */
import type { Octokit } from "@octokit/rest";
import { z } from "zod";
import { windowStart } from "#base/window.ts";
import { hasStatus, isElsewhere } from "#github/faults.ts";
import type { IssueRef, Repo } from "#github/place.ts";
import { type Comment, newestComments } from "#github/read/newest-comments.ts";
import { markerOf } from "#github/understand/marker.ts";
import { maxCommentLength } from "./markdown.ts";

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

/** Resolves with false if there is no comment `id` at this address. */
async function deleteComment(octokit: Octokit, { owner, repo }: Repo, id: number): Promise<boolean> {
  try {
    await octokit.rest.issues.deleteComment({ owner, repo, comment_id: id });
    return true;
  } catch (error) {
    if (hasStatus(error, 404)) return false;
    throw error;
  }
}

/** Resolves with whether comment `id` still exists: a transfer gives comments other ids. */
async function hasComment(octokit: Octokit, { owner, repo }: Repo, id: number): Promise<boolean> {
  try {
    const { data } = await octokit.rest.issues.getComment({ owner, repo, comment_id: id });
    return commentAnswer.parse(data).id === id;
  } catch (error) {
    if (isElsewhere(error)) return false;
    throw error;
  }
}

/**
 * Deletes the found comments except `message` or, if that no longer exists, the eldest. Resolves with the ids of those
 * deleted, and whether one was absent at this address. Rejects as requests do.
 */
export async function deleteOthers(octokit: Octokit, repo: Repo, found: readonly number[], message: number) {
  const stands = found.includes(message) || (await hasComment(octokit, repo, message));
  const stays = stands ? message : Math.min(...found);
  const deleted: number[] = [];
  let absent = false;
  for (const id of found.filter((one) => one !== stays)) {
    if (await deleteComment(octokit, repo, id)) deleted.push(id);
    else absent = true;
  }
  return { deleted, absent };
}

/** Which comments to search for. */
export interface CommentSearch {
  /** Whether a comment of ours with this body is meant. */
  readonly isMeant: (body: string) => boolean;
  /** Milliseconds since they were decided, by our clock; negative: unknown, as after our clock was set back. */
  readonly ageMs: number;
  /** The bot's own login. */
  readonly login: string;
}

/**
 * Yields the ids of the comments that are meant. The search ends at comments that are older, by GitHub's own times.
 * Rejects as requests do.
 */
export async function* findComments(
  octokit: Octokit,
  issue: IssueRef,
  { isMeant, ageMs, login }: CommentSearch,
): AsyncGenerator<number, void, undefined> {
  const isOurs = ({ user, body }: Comment): boolean =>
    user?.login.toLowerCase() === login.toLowerCase() && isMeant(body ?? "");
  let newestMs = Number.NEGATIVE_INFINITY;
  for await (const { comments, servedAt } of newestComments(octokit, issue)) {
    for (const comment of comments) if (isOurs(comment)) yield comment.id;
    const times = comments.map(({ created_at }) => Date.parse(created_at));
    newestMs = Math.max(newestMs, servedAt || Number.NEGATIVE_INFINITY, ...times);
    if (times.some((time) => time < windowStart(newestMs, ageMs))) return;
  }
}
