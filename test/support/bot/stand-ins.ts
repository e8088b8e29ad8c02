import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { type Connection, createGitHubStandIn, type GitHubStandInOptions } from "#sandbox/github/stand-in.ts";
import { createSlackStandIn, type SlackStandInOptions } from "#sandbox/slack/stand-in.ts";
import { listen } from "#test/support/listen.ts";

/** The credentials of the bot in its platforms and at the Agent Runs API. None may appear in its output. */
export const secrets = {
  slackSigning: "slack-signing-secret",
  slackToken: "xoxb-of-the-test",
  slackAppToken: "xapp-of-the-test",
  gitHubWebhook: "github-webhook-secret",
  gitHubToken: "ghp_of-the-test",
  apiKey: "api-key-of-the-test",
} as const;

export interface StandInsOptions {
  /** Where the bot listens now; requested for each delivery. */
  readonly botUrl: () => string;
  readonly slack?: Partial<SlackStandInOptions>;
  readonly github?: Partial<GitHubStandInOptions>;
  /** Delivers Slack's events over Socket Mode instead of HTTP. */
  readonly socketMode?: boolean;
}

/** A Slack and a GitHub, each behind a loopback HTTP server, and the environment that connects a bot to them. */
export async function startStandIns({ botUrl, socketMode = false, ...options }: StandInsOptions) {
  const slack = createSlackStandIn({
    signingSecret: secrets.slackSigning,
    botToken: secrets.slackToken,
    ...(socketMode ? { appToken: secrets.slackAppToken } : {}),
    eventsUrl: () => `${botUrl()}/slack/events`,
    // Longer than Slack's three seconds: a busy machine is no reason for a repetition.
    answerWithinMs: 15_000,
    ...options.slack,
  });
  const slackServer = createServer(getRequestListener((request) => slack.fetch(request)));
  const slackAt = await listen(slackServer);
  slack.baseUrl = slackAt.url;
  if (socketMode) slack.attachSocketMode(slackServer, "/socket");
  const github = createGitHubStandIn({
    webhookSecret: secrets.gitHubWebhook,
    token: secrets.gitHubToken,
    webhookUrl: () => `${botUrl()}/github/webhooks`,
    ...options.github,
  });
  const githubAt = await listen(
    createServer(
      getRequestListener((request, connection) => github.fetch(request, connection as Connection)),
    ),
  );
  const environment: Readonly<Record<string, string>> = {
    SLACK_BOT_TOKEN: secrets.slackToken,
    ...(socketMode
      ? { SLACK_APP_TOKEN: secrets.slackAppToken }
      : { SLACK_SIGNING_SECRET: secrets.slackSigning }),
    SLACK_API_URL: `${slackAt.url}/api/`,
    GITHUB_TOKEN: secrets.gitHubToken,
    GITHUB_WEBHOOK_SECRET: secrets.gitHubWebhook,
    GITHUB_API_URL: githubAt.url,
  };
  return {
    slack,
    github,
    environment,
    async close(): Promise<void> {
      slack.close();
      await Promise.all([slackAt.close(), githubAt.close()]);
    },
  };
}
