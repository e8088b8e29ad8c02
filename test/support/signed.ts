/** Requests to the bot in which the test decides every byte and header. */
import { createHmac } from "node:crypto";
import { type OutgoingHttpHeaders, request } from "node:http";
import { secrets } from "#test/support/bot/stand-ins.ts";

export const json = "application/json";
export const form = "application/x-www-form-urlencoded";

/** Sends the request and resolves with the status; rejects if the connection breaks before an answer. */
export function post(url: string, body: string | Buffer, headers: OutgoingHttpHeaders): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? 0));
      response.once("error", reject);
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

export const nowSeconds = (): number => Math.floor(Date.now() / 1000);

export function slackHeaders(
  body: string | Buffer,
  { at = String(nowSeconds()), type = json }: { at?: string; type?: string } = {},
) {
  const digest = createHmac("sha256", secrets.slackSigning).update(`v0:${at}:`).update(body).digest("hex");
  return { "content-type": type, "x-slack-request-timestamp": at, "x-slack-signature": `v0=${digest}` };
}

export function gitHubHeaders(
  body: string | Buffer,
  { event = "issue_comment", id = crypto.randomUUID(), type = json }: Partial<Record<string, string>> = {},
) {
  const digest = createHmac("sha256", secrets.gitHubWebhook).update(body).digest("hex");
  return {
    "content-type": type,
    "x-github-event": event,
    "x-github-delivery": id,
    "x-hub-signature-256": `sha256=${digest}`,
  };
}

let messages = 0;
const nextTs = (): string => `${nowSeconds()}.${String(++messages).padStart(6, "0")}`;

/** A message that does not concern the bot: without a mention and outside the threads of runs. */
export const slackMessage = (text = "just talk") => ({
  token: "t",
  team_id: "T1",
  api_app_id: "A1",
  type: "event_callback",
  event_id: `Ev${messages}`,
  event_time: nowSeconds(),
  authorizations: [{ team_id: "T1", user_id: "UBOT", is_bot: true }],
  event: { type: "message", channel: "CRANDOM", channel_type: "channel", user: "UBOB", text, ts: nextTs() },
});

export const slackButton = () => ({
  type: "block_actions",
  team: { id: "T1" },
  trigger_id: `trigger-${++messages}`,
  user: { id: "UBOB", username: "bob" },
  channel: { id: "CRANDOM" },
  container: { channel_id: "CRANDOM", message_ts: nextTs() },
  message: { ts: nextTs() },
  actions: [{ action_id: "cancel", value: "no-such-dispatch", action_ts: nextTs(), type: "button" }],
});

export const slackCommand = (text: string) => ({
  command: "/agent",
  text,
  team_id: "T1",
  user_id: "UALICE",
  user_name: "alice",
  channel_id: "CRANDOM",
  trigger_id: `trigger-${++messages}`,
});

export const gitHubComment = (issue: number, body = "just talk", login = "bob") => ({
  action: "created",
  issue: {
    number: issue,
    title: "An issue",
    body: "Its text",
    html_url: `https://github.com/octo/app/issues/${issue}`,
    user: { login: "bob", type: "User" },
    updated_at: new Date().toISOString(),
  },
  comment: {
    id: 900_000 + ++messages,
    body,
    created_at: new Date().toISOString(),
    user: { login, type: "User" },
  },
  // The stand-in's id, as GitHub's own deliveries name it.
  repository: { id: 100, full_name: "octo/app" },
  sender: { login, type: "User" },
});

export const gitHubLabel = (issue: number) => ({
  ...gitHubComment(issue),
  action: "labeled",
  label: { name: "other" },
});
