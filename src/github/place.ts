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

/** Returns the place of an issue or a pull request in the repository with this id, which never changes. */
export const placeOf = (repository: number, number: number): Place =>
  `${platformName}:${repository}#${number}`;

/** Returns the place as earlier versions saved it. */
export const formerPlaceOf = (fullName: string, number: number): Place => `${scopeOf(fullName)}#${number}`;

/** The issue or pull request of a place. Its repository has a name in places of earlier versions, else an id. */
export interface PlaceRef {
  readonly repository: number | Repo;
  readonly number: number;
}

/** Returns the issue or pull request; null: `at` is none, for instance a scope. */
export function readPlace(at: Place | Scope): PlaceRef | null {
  const [, id, owner, repo, number] = /^github:(?:(\d+)|([^/#]+)\/([^/#]+))#(\d+)$/.exec(at) ?? [];
  if (number === undefined) return null;
  if (id !== undefined) return { repository: Number(id), number: Number(number) };
  if (owner === undefined || repo === undefined) return null;
  return { repository: { owner, repo }, number: Number(number) };
}

/** Returns the repository; null: `scope` is none. */
export function readScope(scope: Scope): Repo | null {
  return scope.startsWith(`${platformName}:`) ? readFullName(scope.slice(platformName.length + 1)) : null;
}

/** Returns the repository with the name `owner/name`; null: it is no such name. */
export function readFullName(fullName: string): Repo | null {
  const [, owner, repo] = /^([^/#]+)\/([^/#]+)$/.exec(fullName) ?? [];
  return owner === undefined || repo === undefined ? null : { owner, repo };
}

/** Returns the id of a comment; null: `message` is none. */
export const readComment = (message: MessageId): number | null =>
  /^\d+$/.test(message) ? Number(message) : null;
