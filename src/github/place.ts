/** How this adapter writes repositories, issues and comments as scopes, places and message ids. */
import type { MessageId, Place, Scope } from "#core/place.ts";

export const platformName = "github";

export interface Repo {
  readonly owner: string;
  readonly repo: string;
}

export interface IssueRef extends Repo {
  readonly number: number;
}

/** Names are case-insensitive on GitHub; one spelling keeps one thread together. */
export const scopeOf = (fullName: string): Scope => `${platformName}:${fullName.toLowerCase()}`;

export const placeOf = (fullName: string, number: number): Place => `${scopeOf(fullName)}#${number}`;

/** null if `at` is no issue or pull request, for instance a scope. */
export function readPlace(at: Place | Scope): IssueRef | null {
  const [, owner, repo, number] = /^github:([^/#]+)\/([^/#]+)#(\d+)$/.exec(at) ?? [];
  if (owner === undefined || repo === undefined || number === undefined) return null;
  return { owner, repo, number: Number(number) };
}

/** null if `scope` is no repository. */
export function readScope(scope: Scope): Repo | null {
  const [, owner, repo] = /^github:([^/#]+)\/([^/#]+)$/.exec(scope) ?? [];
  return owner === undefined || repo === undefined ? null : { owner, repo };
}

/** null if `message` is no comment of ours to read. */
export const readComment = (message: MessageId): number | null =>
  /^\d+$/.test(message) ? Number(message) : null;
