import type { Octokit } from "@octokit/rest";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Permission } from "#core/person.ts";
import { hasStatus } from "#github/faults.ts";
import type { Repo } from "#github/place.ts";

type KnownPermission = Exclude<Permission, "unknown">;

/** Saves one of the 5,000 requests an hour that GitHub allows for each command and comment. */
const remembered = 10_000;

/** A response without a permission is an error, not a "none". */
const role = z.object({ permission: z.string() });

/** GitHub reports a custom role as the base role that it extends. */
function permissionOf(role: string): KnownPermission {
  switch (role) {
    case "admin":
    case "maintain":
    case "write":
      return "write";
    case "triage":
    case "read":
      return "read";
    default:
      return "none";
  }
}

/**
 * Returns a function that asks GitHub for a person's permission and remembers it for `ttlMs`. `now` in
 * milliseconds since the epoch. A failure is not remembered, and rejects as the request does.
 */
export function createPermissions(now: () => number, ttlMs: number) {
  const known = new LRUCache<string, { permission: KnownPermission; atMs: number }>({ max: remembered });

  return async function permissionIn(octokit: Octokit, { owner, repo }: Repo, login: string) {
    const key = `${owner}/${repo}/${login}`.toLowerCase();
    const entry = known.get(key);
    const ageMs = now() - (entry?.atMs ?? 0);
    // A negative age: the clock was set back.
    if (entry !== undefined && ageMs >= 0 && ageMs < ttlMs) return entry.permission;
    const permission = await octokit.rest.repos
      .getCollaboratorPermissionLevel({ owner, repo, username: login })
      .then(
        ({ data }) => permissionOf(role.parse(data).permission),
        (error: unknown): KnownPermission => {
          // A bot, or a deleted account.
          if (hasStatus(error, 404)) return "none";
          throw error;
        },
      );
    known.set(key, { permission, atMs: now() });
    return permission;
  };
}
