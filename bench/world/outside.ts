/**
 * The world outside the bot in a process of its own: stand-ins of Slack, GitHub and the Agent Runs API.
 *
 * --answer-after: the delay of each answer in milliseconds, as of a real system. Real systems run on other machines,
 * so this process has a lower priority than the measured one.
 */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { setPriority } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { getRequestListener } from "@hono/node-server";
import { createGitHubStandIn } from "#sandbox/github/stand-in.ts";
import { createSlackStandIn } from "#sandbox/slack/stand-in.ts";
import { controlPath, createApiStandIn } from "./api-stand-in.ts";
import { issuesOf, secrets } from "./credentials.ts";
import { endWithParent } from "./ground.ts";

const { values } = parseArgs({
  options: {
    "answer-after": { type: "string", default: "0" },
    issues: { type: "string", default: "0" },
  },
});
const answerAfterMs = Number(values["answer-after"]);
endWithParent();
setPriority(10);

let botUrl = "http://127.0.0.1:9";

/** Resolves with the URL. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return `http://127.0.0.1:${address.port}`;
}

async function late<T>(answer: Promise<T>): Promise<T> {
  if (answerAfterMs > 0) await delay(answerAfterMs);
  return answer;
}

const slack = createSlackStandIn({
  signingSecret: secrets.slackSigning,
  botToken: secrets.slackToken,
  eventsUrl: () => `${botUrl}/slack/events`,
});
const slackUrl = await serve(getRequestListener((request) => late(slack.fetch(request))));
slack.baseUrl = slackUrl;

const github = createGitHubStandIn({
  webhookSecret: secrets.githubWebhook,
  token: secrets.githubToken,
  webhookUrl: () => `${botUrl}/github/webhooks`,
  initial: issuesOf(Number(values.issues)),
});
const githubUrl = await serve(getRequestListener((request) => late(github.fetch(request))));

let apiUrl = "";
const api = createApiStandIn(() => apiUrl);
apiUrl = await serve((request, response) => {
  const url = new URL(request.url ?? "/", apiUrl);
  if (url.pathname === `${controlPath}/bot`) {
    botUrl = url.searchParams.get("url") ?? botUrl;
    response.end("{}");
  } else if (answerAfterMs > 0 && !url.pathname.startsWith(controlPath)) {
    setTimeout(() => api(request, response), answerAfterMs);
  } else api(request, response);
});

process.stdout.write(`slack=${slackUrl} github=${githubUrl} api=${apiUrl}\n`);
