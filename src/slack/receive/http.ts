/** POST /slack/events: verify once, parse once, have the event saved, and only then answer 200. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { HTTPModuleFunctions } from "@slack/bolt";
import { z } from "zod";
import type { Log } from "#base/log.ts";
import { refuseOverflow } from "./overflow.ts";

const endpoint = "/slack/events";

/** Slack's largest payload, an interaction that holds its whole message, stays far below. */
const bodyLimitBytes = 1024 * 1024;

/** Slack waits three seconds for an answer. */
const answerMs = 3_000;

/** https://docs.slack.dev/reference/events/url_verification, and the check of a slash command's certificate. */
const check = z.union([
  z.object({ type: z.literal("url_verification"), challenge: z.unknown() }),
  z.object({ ssl_check: z.literal("1") }),
]);

/** Options of `createListener`. */
export interface ListenerOptions {
  readonly signingSecret: string;
  readonly log: Log;
  /** Resolves when the payload's event is durable, or none of ours; a rejection makes Slack deliver it again. */
  readonly take: (payload: unknown) => Promise<void>;
}

/** Returns the HTTP listener, which answers every request by itself; see `SlackReceiver.listener`. */
export function createListener({ signingSecret, log, take }: ListenerOptions) {
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body: unknown;
    try {
      const options = { signingSecret, bodyLimit: bodyLimitBytes };
      const verified = await HTTPModuleFunctions.parseAndVerifyHTTPRequest(options, request);
      body = parsed(verified);
    } catch (error) {
      log.warn("A request to the Slack endpoint was refused", { error: String(error) });
      return answer(response, HTTPModuleFunctions.isRawBodyError(error) ? error.statusCode : 401);
    }
    if (typeof body !== "object" || body === null || Array.isArray(body)) return answer(response, 400);
    const { data } = check.safeParse(body);
    if (data !== undefined) {
      if ("challenge" in data) return HTTPModuleFunctions.buildUrlVerificationResponse(response, data);
      return answer(response, 200);
    }
    const late = setTimeout(() => {
      log.warn("An event from Slack took too long");
      answer(response, 503);
    }, answerMs);
    try {
      await take(body);
      answer(response, 200);
    } catch (error) {
      log.warn("Slack has to deliver an event again", { error: String(error) });
      answer(response, 503);
    } finally {
      clearTimeout(late);
    }
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    if (refuseOverflow(request, response, bodyLimitBytes)) return;
    const [path] = (request.url ?? "").split("?", 1);
    if (request.method !== "POST" || path !== endpoint) answer(response, 404);
    else void receive(request, response);
  };
}

/** Null: neither JSON nor a form with JSON. */
function parsed(request: Parameters<typeof HTTPModuleFunctions.parseHTTPRequestBody>[0]): unknown {
  try {
    return HTTPModuleFunctions.parseHTTPRequestBody(request);
  } catch {
    return null;
  }
}

function answer(response: ServerResponse, status: number): void {
  if (!response.headersSent) response.writeHead(status).end();
}
