/**
 * The Agent Runs API and Slack in a process of their own, as cheap as possible, so that the bot is what a measurement
 * of throughput measures. They remember when each run was created.
 *
 * --answer-after: the delay of each answer in milliseconds, as of a real system.
 */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { setPriority } from "node:os";
import { parseArgs } from "node:util";
import { controlPath, createApiStandIn } from "./api-stand-in.ts";
import { endWithParent } from "./ground.ts";

const { values } = parseArgs({ options: { "answer-after": { type: "string", default: "0" } } });
const answerAfterMs = Number(values["answer-after"]);
endWithParent();
setPriority(10);

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer({ keepAliveTimeout: 60_000 }, listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return `http://127.0.0.1:${address.port}`;
}

const late: (then: () => void) => void =
  answerAfterMs > 0 ? (then) => void setTimeout(then, answerAfterMs) : (then) => then();

let messages = 0;
const identity = { url: "https://bench.slack.com/", team_id: "T0SANDBOX", user_id: "UBOT", bot_id: "B0BOT" };
const slackUrl = await serve((request, response) => {
  request.resume().once("end", () => {
    messages += 1;
    const ts = `1700000000.${String(messages).padStart(6, "0")}`;
    const more = request.url?.startsWith("/api/auth.test") ? identity : { ts, messages: [] };
    const head = { "content-type": "application/json", "x-oauth-scopes": "chat:write,commands" };
    late(() => response.writeHead(200, head).end(JSON.stringify({ ok: true, ...more })));
  });
});

let apiUrl = "";
const api = createApiStandIn(() => apiUrl);
apiUrl = await serve((request, response) => {
  if (request.url?.startsWith(controlPath)) api(request, response);
  else late(() => api(request, response));
});

process.stdout.write(`slack=${slackUrl} api=${apiUrl}\n`);
