/** The credentials of the bot and the stand-ins, and the initial contents of GitHub. */
import { defaultSnapshot, type GitHubSnapshot } from "#sandbox/github/snapshot.ts";

export const secrets = {
  slackToken: "xoxb-of-the-bench",
  slackSigning: "signing-secret-of-the-bench",
  githubToken: "token-of-the-bench",
  githubWebhook: "webhook-secret-of-the-bench",
  apiKey: "api-key-of-the-bench",
} as const;

export const runName = "bench";
export const repository = "octo/app";

/** Returns the stand-in's default contents with so many open issues, numbered from 1. */
export function issuesOf(count: number): GitHubSnapshot {
  const snapshot = defaultSnapshot();
  const at = "2026-01-01T00:00:00Z";
  const issues = Array.from({ length: count }, (_, index) => ({
    id: 10_000 + index,
    repo: repository,
    number: index + 1,
    title: `The test of part ${index + 1} fails now and then`,
    body: "It passes again when it is run once more.\n".repeat(20),
    user: "alice",
    state: "open" as const,
    locked: false,
    pullRequest: false,
    labels: ["agent"],
    createdAt: at,
    updatedAt: at,
  }));
  const repos = snapshot.repos.map((repo) => ({ ...repo, lastNumber: count }));
  return { ...snapshot, repos, issues, lastId: 10_000 + count };
}
