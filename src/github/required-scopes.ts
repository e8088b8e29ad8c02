/**
 * What the bot asks of GitHub. The App's manifest grants exactly this, and a test compares the two.
 * Source: https://docs.github.com/rest/authentication/permissions-required-for-github-apps
 */

export type Access = "read" | "write";
export type Permissions = Readonly<Record<string, Access>>;

/** Pull requests are issues to this API, but whether the App may touch one is the other permission's matter. */
const readThreads = { issues: "read", pull_requests: "read" } as const;
const writeThreads = { issues: "write", pull_requests: "write" } as const;

/** Every REST call, with the permissions it needs. Calls that the App makes as itself need none. */
export const calls: Readonly<Record<string, Permissions>> = {
  "GET /user": {},
  "GET /app": {},
  "GET /repos/{owner}/{repo}/installation": {},
  "POST /app/installations/{installation_id}/access_tokens": {},
  "GET /app/hook/deliveries": {},
  "GET /app/hook/deliveries/{delivery_id}": {},
  "POST /app/hook/deliveries/{delivery_id}/attempts": {},
  "GET /repos/{owner}/{repo}/issues": readThreads,
  "GET /repos/{owner}/{repo}/issues/comments": readThreads,
  "GET /repos/{owner}/{repo}/issues/events": readThreads,
  "GET /repos/{owner}/{repo}/issues/{issue_number}/comments": readThreads,
  "POST /repos/{owner}/{repo}/issues/{issue_number}/comments": writeThreads,
  "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}": writeThreads,
  "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions": writeThreads,
  "GET /repos/{owner}/{repo}/issues/{issue_number}/labels": readThreads,
  "POST /repos/{owner}/{repo}/issues/{issue_number}/labels": writeThreads,
  "DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}": writeThreads,
  "POST /repos/{owner}/{repo}/labels": writeThreads,
  "GET /repos/{owner}/{repo}/collaborators/{username}/permission": { metadata: "read" },
};

/**
 * Calls that only a token makes, and that it may be refused: without them the bot reads back what it missed.
 * The App asks after its own webhook instead, and needs no permission for that.
 */
export const optionalTokenCalls: Readonly<Record<string, Permissions>> = {
  "GET /repos/{owner}/{repo}/hooks": { repository_hooks: "read" },
  "GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries": { repository_hooks: "read" },
  "GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}": { repository_hooks: "read" },
  "POST /repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}/attempts": {
    repository_hooks: "write",
  },
};

/** Webhook events that are understood, each with the actions of it. GitHub adds `ping` by itself. */
export const events: Readonly<Record<string, readonly string[]>> = {
  issues: ["labeled"],
  pull_request: ["labeled"],
  issue_comment: ["created"],
};
