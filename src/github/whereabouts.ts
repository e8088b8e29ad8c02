/** Finds the present names of places: repositories are renamed, and issues transferred. */
import { LRUCache } from "lru-cache";
import type { MovedEvent, PlatformEvent } from "#core/event.ts";
import type { Place } from "#core/place.ts";
import { address, repository } from "#github/understand/payload.ts";
import type { GitHubClient } from "./client.ts";
import {
  type IssueRef,
  type PlaceRef,
  placeOf,
  platformName,
  type Repo,
  readFullName,
  readPlace,
  readScope,
  scopeOf,
} from "./place.ts";

const remembered = 1_000;
/** Anybody may take a name that a renamed repository had, so an older answer is asked for again. */
const freshMs = 5 * 60_000;

/** What was found, and when, by the monotonic clock. */
type Dated<T> = T & { readonly atMs: number };

/** Options of `createWhereabouts`. */
export interface WhereaboutsOptions {
  readonly client: GitHubClient;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds, monotonic. */
  readonly elapsed: () => number;
}

/** Creates the search; names are remembered for minutes, or until `findAgain`. */
export function createWhereabouts({ client, now, elapsed }: WhereaboutsOptions) {
  const names = new LRUCache<number, Dated<Repo>>({ max: remembered });
  const transferred = new LRUCache<Place, Dated<IssueRef>>({ max: remembered });
  const isFresh = ({ atMs }: { readonly atMs: number }): boolean => elapsed() - atMs < freshMs;

  /** `ageMs`: how long the name has been known to be the repository's. */
  function setName(id: number, repo: Repo, ageMs = 0): void {
    const atMs = elapsed() - ageMs;
    if (atMs < (names.get(id)?.atMs ?? Number.NEGATIVE_INFINITY)) return;
    for (const [other, known] of names.entries()) if (isSameRepo(known, repo)) names.delete(other);
    names.set(id, { ...repo, atMs });
  }

  async function repoOf({ repository: known }: PlaceRef): Promise<Repo> {
    if (typeof known !== "number") return known;
    const name = names.get(known);
    if (name !== undefined && isFresh(name)) return { owner: name.owner, repo: name.repo };
    const octokit = await client.inRepository(known);
    const { data } = await octokit.request("GET /repositories/{id}", { id: known });
    const repo = readFullName(repository.parse(data).full_name);
    if (repo === null) throw new Error("GitHub's response does not name the repository");
    setName(known, repo);
    return repo;
  }

  /** Asks GitHub where the issue is now. */
  async function locate(place: Place, at: PlaceRef): Promise<IssueRef | null> {
    if (typeof at.repository === "number") names.delete(at.repository);
    transferred.delete(place);
    const repo = await repoOf(at);
    const octokit = await client.in(repo);
    const { data } = await octokit.rest.issues.get({ ...repo, issue_number: at.number });
    const { number, repository_url } = address.parse(data);
    const name = readFullName(repository_url.split("/").slice(-2).join("/"));
    if (name === null) return null;
    const found = { ...name, number };
    if (!isSame(found, { ...repo, number: at.number })) transferred.set(place, { ...found, atMs: elapsed() });
    return found;
  }

  return {
    /** Notes the name that the event gives its repository, unless it is old: GitHub repeats deliveries for days. */
    learn({ place, scope, at: time }: PlatformEvent): void {
      const at = place === null ? null : readPlace(place);
      const repo = readScope(scope);
      const ageMs = Math.max(now() + client.aheadMs() - Date.parse(time), 0);
      if (typeof at?.repository === "number" && repo !== null && ageMs < freshMs)
        setName(at.repository, repo, ageMs);
    },

    /** Resolves with the issue as it was called minutes ago at most. Rejects as requests do. */
    async find(place: Place, at: PlaceRef): Promise<IssueRef> {
      const moved = transferred.get(place);
      if (moved !== undefined) {
        const there = isFresh(moved) ? moved : await locate(place, at);
        if (there !== null) return { owner: there.owner, repo: there.repo, number: there.number };
      }
      return { ...(await repoOf(at)), number: at.number };
    },

    /**
     * Asks GitHub for the issue that was not found as `was`; resolves with null if it has no other name. Rejects as
     * requests do.
     */
    async findAgain(place: Place, at: PlaceRef, was: IssueRef): Promise<IssueRef | null> {
      client.forget(was);
      const found = await locate(place, at);
      return found === null || isSame(found, was) ? null : found;
    },

    /** Resolves with the event that the place was found there; null: GitHub gives no id. Rejects as requests do. */
    async moved(place: Place, { owner, repo, number }: IssueRef): Promise<MovedEvent | null> {
      const octokit = await client.in({ owner, repo });
      const { id, full_name } = repository.parse((await octokit.rest.repos.get({ owner, repo })).data);
      if (!id) return null;
      const there = placeOf(id, number);
      return {
        kind: "moved",
        id: `${platformName}:moved:${place}:${there}`,
        at: new Date(now() + client.aheadMs()).toISOString(),
        by: { platform: platformName, id: "ghost", name: "ghost", bot: false },
        scope: scopeOf(full_name),
        place: there,
        formerPlaces: [place],
      };
    },
  };
}

const isSameRepo = (one: Repo, other: Repo): boolean =>
  `${one.owner}/${one.repo}`.toLowerCase() === `${other.owner}/${other.repo}`.toLowerCase();

const isSame = (one: IssueRef, other: IssueRef): boolean =>
  isSameRepo(one, other) && one.number === other.number;
