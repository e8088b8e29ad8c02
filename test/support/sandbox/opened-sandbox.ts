import type { IncomingHttpHeaders } from "node:http";
import { onTestFinished } from "vitest";
import { createSandbox, type Sandbox } from "#sandbox/sandbox.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { type LogLine, recordingLog } from "#test/support/logs.ts";
import { createWeb } from "#web/server.ts";

/** A request that the stand-ins sent to the bot, of which there is only this plain HTTP receiver. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface OpenedSandbox {
  readonly sandbox: Sandbox;
  readonly url: string;
  readonly dataDir: string;
  readonly received: Received[];
  readonly logged: readonly LogLine[];
  /** Sets the receiver's answers from now on. */
  answerWith(status: number): void;
  /** Performs an act as the page does. */
  act(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; answer: unknown }>;
  /** Calls a method of the sandbox's Slack as the bot does. */
  slack(method: string, body: object): Promise<Record<string, unknown>>;
  /** Calls the sandbox's GitHub as the bot does. */
  github(method: string, path: string, body?: object): Promise<Response>;
  stop(): Promise<void>;
}

/** Opens a sandbox behind the bot's own web server, on its own port. It is stopped after the test. */
export async function openSandbox(
  options: { dataDir?: string; publicUrl?: string } = {},
): Promise<OpenedSandbox> {
  const dataDir = options.dataDir ?? (await freshFolder());
  const { log, lines: logged } = recordingLog();
  const web = createWeb({ log, stopWithinMs: 1_000 });
  const at = await web.listen({ host: "127.0.0.1", port: 0 });
  if (!at.ok) throw new Error(at.problem);
  const { url } = at;
  const { publicUrl } = options;
  const sandbox = await createSandbox({
    dataDir,
    url,
    log,
    ...(publicUrl === undefined ? {} : { publicUrl }),
  });
  const { environment } = sandbox;
  const received: Received[] = [];
  let status = 200;
  const receive: Parameters<typeof web.open>[0]["routes"][string] = async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts).toString();
    received.push({ path: request.url ?? "", headers: request.headers, body });
    response.writeHead(status).end();
  };
  web.open({
    routes: { "POST /slack/events": receive, "POST /github/webhooks": receive },
    mounts: { "/sandbox": sandbox.fetch },
  });
  let stopped: Promise<void> | null = null;
  const stop = (): Promise<void> => (stopped ??= sandbox.stop().then(() => web.stop()));
  onTestFinished(stop);
  const json = { "content-type": "application/json" };

  return {
    sandbox,
    url,
    dataDir,
    received,
    logged,
    answerWith: (next) => {
      status = next;
    },
    async act(path, body, headers = {}) {
      const answer = await fetch(`${url}/sandbox/act/${path}`, {
        method: "POST",
        headers: { ...json, ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      return { status: answer.status, answer: await answer.json() };
    },
    async slack(method, body) {
      const answer = await fetch(`${environment.SLACK_API_URL}${method}`, {
        method: "POST",
        headers: { ...json, authorization: `Bearer ${environment.SLACK_BOT_TOKEN}` },
        body: JSON.stringify(body),
      });
      return answer.json();
    },
    github: (method, path, body) =>
      fetch(`${environment.GITHUB_API_URL}${path}`, {
        method,
        headers: { ...json, authorization: `token ${environment.GITHUB_TOKEN}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    stop,
  };
}

/** Channels of the prepared workspace: the bot is in the first only. */
export const general = "C0GENERAL";
export const random = "C0RANDOM";

/** A card with a button, as the bot posts it. */
export const card = (words: string) => ({
  channel: general,
  text: words,
  blocks: [
    { type: "section", text: { type: "mrkdwn", text: words } },
    {
      type: "actions",
      elements: [
        { type: "button", action_id: "cancel", value: "d1", text: { type: "plain_text", text: "Cancel" } },
      ],
    },
  ],
});
