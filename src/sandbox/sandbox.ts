/** Stand-ins for Slack and GitHub with a page to use them on, to try the bot without accounts. */
import type { Log } from "#base/log.ts";
import type { Act } from "#sandbox/acts/acts.ts";
import { gitHubActs } from "#sandbox/acts/github-acts.ts";
import { slackActs } from "#sandbox/acts/slack-acts.ts";
import { type Connection, createGitHubStandIn } from "#sandbox/github/stand-in.ts";
import { preparedGitHub, preparedSlack } from "#sandbox/saved/prepared-content.ts";
import { openSavedState } from "#sandbox/saved/saved-state.ts";
import { readJson, refusal, refuseForeignHost, refuseForeignOrigin } from "#sandbox/serve/guard.ts";
import { createLive } from "#sandbox/serve/live.ts";
import { pageFile } from "#sandbox/serve/page-files.ts";
import { gitHubState } from "#sandbox/shown/github-state.ts";
import { slackState } from "#sandbox/shown/slack-state.ts";
import { createSlackStandIn } from "#sandbox/slack/stand-in.ts";

/** The path under which the sandbox is mounted. */
export const sandboxPath = "/sandbox";

/** Options of the sandbox. */
export interface SandboxOptions {
  /** Folder of its state, `sandbox.json`. */
  readonly dataDir: string;
  /** The bot's address for programs on this machine, without a final slash. */
  readonly url: string;
  /** The bot's public address, if it is another one. */
  readonly publicUrl?: string;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** An open sandbox. */
export interface Sandbox {
  /** Answers every request below `sandboxPath`. Pass the server's second argument as well. */
  fetch(request: Request, connection?: Connection): Promise<Response>;
  /** Environment variables that connect the bot to the stand-ins. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends every stream and saves pending changes. */
  stop(): Promise<void>;
}

/**
 * Opens the sandbox with its saved state. Events go to `<url>/slack/events` and `<url>/github/webhooks`, signed.
 * Rejects with the file system's error if its state can't be read or written.
 */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { dataDir, url, publicUrl = url, log, now = Date.now } = options;
  const saved = await openSavedState({
    dataDir,
    prepared: { slack: preparedSlack(now()), github: preparedGitHub(now()) },
    read: () => ({ slack: slack.snapshot(), github: github.snapshot() }),
    log,
  });
  const { secrets } = saved.initial;
  const base = `${url}${sandboxPath}`;
  const slack = createSlackStandIn({
    signingSecret: secrets.slackSigningSecret,
    botToken: secrets.slackBotToken,
    eventsUrl: () => `${url}/slack/events`,
    baseUrl: `${base}/slack`,
    initial: saved.initial.slack,
    now,
  });
  const github = createGitHubStandIn({
    webhookSecret: secrets.githubWebhookSecret,
    token: secrets.githubToken,
    webhookUrl: () => `${url}/github/webhooks`,
    initial: saved.initial.github,
    now,
  });
  const unsubscribe = [slack.subscribe(saved.changed), github.subscribe(saved.changed)];
  const live = createLive([
    { name: "slack", read: () => slackState(slack.snapshot()), subscribe: slack.subscribe },
    { name: "github", read: () => gitHubState(github.snapshot()), subscribe: github.subscribe },
  ]);
  const acts: Readonly<Record<string, Readonly<Record<string, Act>>>> = {
    slack: slackActs(slack),
    github: gitHubActs(github),
  };

  async function carryOut(request: Request, where: string, what: string): Promise<Response> {
    const of = Object.hasOwn(acts, where) ? acts[where] : undefined;
    const act = of !== undefined && Object.hasOwn(of, what) ? of[what] : undefined;
    if (act === undefined) return refusal(404, "This act does not exist.");
    if (request.method !== "POST") return refusal(405, "Acts must be sent with POST.");
    const foreign = refuseForeignOrigin(request);
    if (foreign !== null) return foreign;
    const body = await readJson(request);
    if (!body.ok) return body.response;
    const answer = await act(body.value);
    if (!answer.ok) return refusal(422, answer.error);
    return Response.json(answer, { headers: { "cache-control": "no-store" } });
  }

  async function answer(request: Request, connection: Connection | undefined): Promise<Response> {
    const foreign = refuseForeignHost(request, [url, publicUrl]);
    if (foreign !== null) return foreign;
    const path = new URL(request.url).pathname.slice(sandboxPath.length);
    const [first = "", second = "", third = "", ...more] = path.split("/").slice(1);
    switch (first) {
      case "slack":
        return slack.fetch(request);
      case "github":
        return github.fetch(below(`${sandboxPath}/github`, request), connection);
      case "act":
        return more.length > 0 ? nothing() : carryOut(request, second, third);
      case "events":
        return second === "" ? (refuseForeignOrigin(request) ?? live.open()) : nothing();
      case "":
        return (await pageFile("index.html")) ?? nothing();
      case "page":
        return third === "" ? ((await pageFile(second)) ?? nothing()) : nothing();
      default:
        return nothing();
    }
  }

  return {
    fetch: answer,
    environment: {
      SLACK_BOT_TOKEN: secrets.slackBotToken,
      SLACK_SIGNING_SECRET: secrets.slackSigningSecret,
      SLACK_API_URL: `${base}/slack/api/`,
      GITHUB_WEBHOOK_SECRET: secrets.githubWebhookSecret,
      GITHUB_TOKEN: secrets.githubToken,
      GITHUB_API_URL: `${base}/github`,
    },
    async stop() {
      live.stop();
      slack.close();
      for (const end of unsubscribe) end();
      await saved.close();
    },
  };
}

const nothing = (): Response => refusal(404, "There is nothing at this path.");

/** The request without the prefix in its path. */
function below(prefix: string, request: Request): Request {
  const url = new URL(request.url);
  url.pathname = url.pathname.slice(prefix.length) || "/";
  return new Request(url, request);
}
