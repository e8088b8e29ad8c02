/** What somebody may do in a repository, asked of GitHub and remembered for a short time. */
import type { Octokit } from "@octokit/rest";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Permission } from "#core/person.ts";
import { hasStatus } from "#github/faults.ts";
import type { Repo } from "#github/place.ts";

export type KnownPermission = Exclude<Permission, "unknown">;

const remembered = 10_000;

/** An answer without one says nothing of the person: it is no "none". */
const role = z.object({ permission: z.string() });

/** GitHub's roles; custom ones are reported as the base role they extend. */
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

/** `now` and `ttlMs` in milliseconds. Failures are not remembered; they reject as the request does. */
export function createPermissions(now: () => number, ttlMs: number) {
  const known = new LRUCache<string, { permission: KnownPermission; atMs: number }>({ max: remembered });

  return async function permissionIn(octokit: Octokit, { owner, repo }: Repo, login: string) {
    const key = `${owner}/${repo}/${login}`.toLowerCase();
    const entry = known.get(key);
    if (entry !== undefined && now() - entry.atMs < ttlMs) return entry.permission;
    const permission = await octokit.rest.repos
      .getCollaboratorPermissionLevel({ owner, repo, username: login })
      .then(
        ({ data }) => permissionOf(role.parse(data).permission),
        (error: unknown): KnownPermission => {
          // Not a user: a bot, or an account that is gone.
          if (hasStatus(error, 404)) return "none";
          throw error;
        },
      );
    known.set(key, { permission, atMs: now() });
    return permission;
  };
}
