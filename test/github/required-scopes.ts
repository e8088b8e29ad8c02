/** https://docs.github.com/rest/authentication/permissions-required-for-github-apps */

type Permissions = Readonly<Record<string, "read" | "write">>;

/** This API treats pull requests as issues, but they need a permission of their own. */
const readThreads = { issues: "read", pull_requests: "read" } as const;
const writeThreads = { issues: "write", pull_requests: "write" } as const;

/** Each REST call with the permissions it needs. Calls that the App makes as itself need none. */
export const calls: Readonly<Record<string, Permissions>> = {
  "GET /user": {},
  "GET /app": {},
  "GET /repos/{owner}/{repo}/installation": {},
  "GET /repositories/{id}/installation": {},
  "POST /app/installations/{installation_id}/access_tokens": {},
  "GET /app/hook/deliveries": {},
  "GET /app/hook/deliveries/{delivery_id}": {},
  "POST /app/hook/deliveries/{delivery_id}/attempts": {},
  "GET /repositories/{id}": { metadata: "read" },
  "GET /repos/{owner}/{repo}": { metadata: "read" },
  "GET /repos/{owner}/{repo}/issues": readThreads,
  "GET /repos/{owner}/{repo}/issues/{issue_number}": readThreads,
  "GET /repos/{owner}/{repo}/issues/comments": readThreads,
  "GET /repos/{owner}/{repo}/issues/comments/{comment_id}": readThreads,
  "GET /repos/{owner}/{repo}/issues/events": readThreads,
  "GET /repos/{owner}/{repo}/issues/{issue_number}/comments": readThreads,
  "POST /repos/{owner}/{repo}/issues/{issue_number}/comments": writeThreads,
  "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}": writeThreads,
  "DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}": writeThreads,
  "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions": writeThreads,
  "GET /repos/{owner}/{repo}/issues/{issue_number}/labels": readThreads,
  "POST /repos/{owner}/{repo}/issues/{issue_number}/labels": writeThreads,
  "PUT /repos/{owner}/{repo}/issues/{issue_number}/labels": writeThreads,
  "GET /repos/{owner}/{repo}/labels/{name}": readThreads,
  "POST /repos/{owner}/{repo}/labels": writeThreads,
  "GET /repos/{owner}/{repo}/collaborators/{username}/permission": { metadata: "read" },
};

/**
 * Calls that only a token makes and that GitHub may refuse it: the bot then reads missed comments back. An App
 * reads the deliveries of its own webhook, which needs no permission.
 */
export const optionalTokenCalls: Readonly<Record<string, Permissions>> = {
  "GET /repos/{owner}/{repo}/hooks": { repository_hooks: "read" },
  "GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries": { repository_hooks: "read" },
  "GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}": { repository_hooks: "read" },
  "POST /repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}/attempts": {
    repository_hooks: "write",
  },
};
