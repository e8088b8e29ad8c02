/** Finds the present names of places: repositories are renamed, and issues transferred. */
import { LRUCache } from "lru-cache";
import type { PlatformEvent } from "#core/event.ts";
import type { Place } from "#core/place.ts";
import { address, repository } from "#github/understand/payload.ts";
import type { GitHubClient } from "./client.ts";
import { type IssueRef, type PlaceRef, type Repo, readFullName, readPlace, readScope } from "./place.ts";

const remembered = 1_000;

/** Creates the search; names are remembered until `findAgain`. */
export function createWhereabouts(client: GitHubClient) {
  const names = new LRUCache<number, Repo>({ max: remembered });
  const transferred = new LRUCache<Place, IssueRef>({ max: remembered });

  async function repoOf({ repository: known }: PlaceRef): Promise<Repo> {
    if (typeof known !== "number") return known;
    const name = names.get(known);
    if (name !== undefined) return name;
    const octokit = await client.inRepository(known);
    const { data } = await octokit.request("GET /repositories/{id}", { id: known });
    const repo = readFullName(repository.parse(data).full_name);
    if (repo === null) throw new Error("GitHub's response does not name the repository");
    names.set(known, repo);
    return repo;
  }

  return {
    /** Notes the name that the event gives its repository. */
    learn({ place, scope }: PlatformEvent): void {
      const at = place === null ? null : readPlace(place);
      const repo = readScope(scope);
      if (typeof at?.repository === "number" && repo !== null) names.set(at.repository, repo);
    },

    /** Resolves with the issue as it is called now, to the best of our knowledge. Rejects as requests do. */
    async find(place: Place, at: PlaceRef): Promise<IssueRef> {
      return transferred.get(place) ?? { ...(await repoOf(at)), number: at.number };
    },

    /**
     * Asks GitHub for the issue that was not found as `was`; resolves with null if it has no other name. Rejects as
     * requests do.
     */
    async findAgain(place: Place, at: PlaceRef, was: IssueRef): Promise<IssueRef | null> {
      if (typeof at.repository === "number") names.delete(at.repository);
      transferred.delete(place);
      client.forget(was);
      const repo = await repoOf(at);
      const octokit = await client.in(repo);
      const { data } = await octokit.rest.issues.get({ ...repo, issue_number: at.number });
      const { number, repository_url } = address.parse(data);
      const name = readFullName(repository_url.split("/").slice(-2).join("/"));
      if (name === null || isSame({ ...name, number }, was)) return null;
      const found = { ...name, number };
      if (!isSame(found, { ...repo, number: at.number })) transferred.set(place, found);
      return found;
    },
  };
}

const isSame = (one: IssueRef, other: IssueRef): boolean =>
  `${one.owner}/${one.repo}#${one.number}`.toLowerCase() ===
  `${other.owner}/${other.repo}#${other.number}`.toLowerCase();
