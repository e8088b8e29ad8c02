import type { PlatformKind, PlatformSettings } from "#ports.ts";
import { type GitHubSettings, gitHubVariables, readGitHubSettings } from "./config.ts";
import { platformName, scopeOf } from "./place.ts";

/** Describes GitHub to the rest of the bot. */
export const github: PlatformKind = {
  name: platformName,
  title: "GitHub",
  // https://docs.github.com/webhooks/using-webhooks/best-practices-for-using-webhooks
  answerWithinMs: { "/github/webhooks": 10_000 },
  variables: gitHubVariables,
  toConnect: "GITHUB_WEBHOOK_SECRET, and GITHUB_TOKEN or a GitHub App",
  facts: {
    hasStateLabels: true,
    holdMs: 20_000,
    help: [
      "Give me a command after `/agent` at the start of a comment's line, or mention me and write it after my name.",
    ],
  },
  people: { pattern: /^[\w-]+(\[bot\])?$/, advice: "write the GitHub login, without @" },
  scopes: {
    key: "repositories",
    pattern: /^[\w.-]+\/[\w.-]+$/,
    advice: "write the repository as owner/name",
    scopeOf,
  },
  read(environment, readFile) {
    const { settings, problems } = readGitHubSettings(environment, readFile);
    return { settings: settings && settingsOf(settings), problems };
  },
};

const settingsOf = ({ webhookSecret, credentials, ...more }: GitHubSettings): PlatformSettings => ({
  secrets: [
    credentials.kind === "token" ? credentials.token : credentials.privateKey,
    ...webhookSecret.split(",").map((secret) => secret.trim()),
  ],
  reached: (publicUrl) => `webhook URL ${publicUrl}/github/webhooks`,
  async open({ accept, log, clock, publicUrl }) {
    const { createListener } = await import("#github/receive/receive.ts");
    const { createGitHubPlatform } = await import("#github/send/send.ts");
    const platform = createGitHubPlatform({
      ...more,
      auth: credentials,
      log,
      accept,
      now: clock.now,
      elapsed: clock.elapsed,
      ...(publicUrl === null ? {} : { publicUrl }),
    });
    const { identity, intake } = platform;
    const listener = createListener({ accept, log, webhookSecret, identity, intake });
    return { platform, routes: { "POST /github/webhooks": listener } };
  },
});
