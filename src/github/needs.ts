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

/** Webhook events that are understood, each with the actions of it. GitHub adds `ping` by itself. */
export const events: Readonly<Record<string, readonly string[]>> = {
  issues: ["labeled"],
  pull_request: ["labeled"],
  issue_comment: ["created"],
};
