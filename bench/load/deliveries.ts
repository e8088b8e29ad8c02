/** Deliveries of Slack and GitHub, signed and as large as the real ones. */
import { createHmac, randomUUID } from "node:crypto";
import { issuesOf, repository, secrets } from "#bench/world/credentials.ts";
import { issueJson, labelJson, repositoryJson, userJson } from "#sandbox/github/payloads.ts";
import { signedRequest } from "#sandbox/slack/deliver.ts";
import type { Shot } from "./open-loop.ts";

const longRequest =
  "run fix the flaky test of the parser; it fails about once in twenty runs, only on the slow machines";

/** Makes a `/agent run …` with a new trigger id each time. */
export function slashCommand(channel = "C0GENERAL", text = longRequest): Shot {
  const fields = {
    token: "verification-token",
    team_id: "T0SANDBOX",
    team_domain: "sandbox",
    channel_id: channel,
    channel_name: "general",
    user_id: "UALICE",
    user_name: "alice",
    command: "/agent",
    text,
    api_app_id: "A0SANDBOX",
    is_enterprise_install: "false",
    response_url: "https://hooks.slack.com/commands/T0SANDBOX/1234567890/abcdefghijklmnopqrstuvwx",
    trigger_id: `${Date.now()}.${randomUUID()}`,
  };
  const body = new URLSearchParams(fields).toString();
  const signing = { signingSecret: secrets.slackSigning, now: Date.now };
  const { headers } = signedRequest(signing, body, "application/x-www-form-urlencoded", "right");
  return { path: "/slack/events", headers, body };
}

/** Resources whose addresses GitHub writes into each repository and each user. */
const links = [
  "archive assignees blobs branches collaborators comments commits compare contents contributors deployments",
  "downloads events forks git_commits git_refs git_tags hooks issue_comment issue_events issues keys labels",
  "languages merges milestones notifications pulls releases stargazers statuses subscribers subscription",
  "tags teams trees clone git mirror ssh svn followers following gists starred organizations received_events",
]
  .join(" ")
  .split(" ");

const linksOf = (path: string): Record<string, string> =>
  Object.fromEntries(links.map((name) => [`${name}_url`, `https://api.github.com/${path}/${name}{/other}`]));

/** Makes the `issues.labeled` of the issue with that number, to be sent to `path`. */
export function createLabeled(issues: number): (number: number, path: string) => Shot {
  const world = issuesOf(issues);
  const [octo, alice] = world.users;
  const [repo] = world.repos;
  const [label] = repo?.labels ?? [];
  if (!octo || !alice || !repo || !label) throw new Error("the world of GitHub lacks something");
  return (number, path) => {
    const issue = world.issues[number - 1];
    if (issue === undefined) throw new Error(`there is no issue ${number}`);
    const sender = { ...userJson(alice), ...linksOf("users/alice") };
    const payload = {
      action: "labeled",
      issue: { ...issueJson(issue, alice, [label], 0), user: sender },
      label: labelJson(label),
      repository: { ...repositoryJson(repo, octo), ...linksOf(`repos/${repository}`) },
      sender,
    };
    const body = JSON.stringify(payload);
    const digest = createHmac("sha256", secrets.githubWebhook).update(body).digest("hex");
    const headers = {
      accept: "*/*",
      "content-type": "application/json",
      "user-agent": "GitHub-Hookshot/5ea7f00",
      "x-github-delivery": randomUUID(),
      "x-github-event": "issues",
      "x-github-hook-id": "1",
      "x-hub-signature-256": `sha256=${digest}`,
    };
    return { path, headers, body };
  };
}
