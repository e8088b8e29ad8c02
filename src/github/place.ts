import type { MessageId, Place, Scope } from "#core/place.ts";

/** The part of GitHub's places before the colon. */
export const platformName = "github";

/** A repository. */
export interface Repo {
  readonly owner: string;
  readonly repo: string;
}

/** An issue or a pull request. */
export interface IssueRef extends Repo {
  readonly number: number;
}

/** Returns the scope of a repository. GitHub ignores the case of names, and one thread needs one spelling. */
export const scopeOf = (fullName: string): Scope => `${platformName}:${fullName.toLowerCase()}`;

/** Returns the place of an issue or a pull request. */
export const placeOf = (fullName: string, number: number): Place => `${scopeOf(fullName)}#${number}`;

/** Returns the issue or pull request; null: `at` is none, for instance a scope. */
export function readPlace(at: Place | Scope): IssueRef | null {
  const [, owner, repo, number] = /^github:([^/#]+)\/([^/#]+)#(\d+)$/.exec(at) ?? [];
  if (owner === undefined || repo === undefined || number === undefined) return null;
  return { owner, repo, number: Number(number) };
}

/** Returns the repository; null: `scope` is none. */
export function readScope(scope: Scope): Repo | null {
  const [, owner, repo] = /^github:([^/#]+)\/([^/#]+)$/.exec(scope) ?? [];
  return owner === undefined || repo === undefined ? null : { owner, repo };
}

/** Returns the id of a comment; null: `message` is none. */
export const readComment = (message: MessageId): number | null =>
  /^\d+$/.test(message) ? Number(message) : null;
