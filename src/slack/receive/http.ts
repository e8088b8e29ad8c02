/** POST /slack/events: verify once, parse once, have the event saved, and only then answer 200. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { HTTPModuleFunctions } from "@slack/bolt";
import { z } from "zod";
import { discardRest } from "#base/discard-rest.ts";
import type { Log } from "#base/log.ts";
import { answerMs, patienceMs } from "#slack/answer-time.ts";

/** Far above Slack's largest payload, an interaction that holds its whole message. */
const bodyLimitBytes = 1024 * 1024;

/** https://docs.slack.dev/reference/events/url_verification, and the check of a slash command's certificate. */
const check = z.union([
  z.object({ type: z.literal("url_verification"), challenge: z.unknown() }),
  z.object({ ssl_check: z.literal("1") }),
]);

/** Options of `createListener`. */
export interface ListenerOptions {
  readonly signingSecret: string;
  readonly log: Log;
  /**
   * Resolves when the payload's event is durable or not for the bot, with false if the payload is malformed; a
   * rejection makes Slack deliver it again. The event may wait `patienceMs` for what it belongs to.
   */
  readonly take: (payload: unknown, patienceMs: number) => Promise<boolean>;
}

/** Returns the HTTP listener, which answers every request itself; see `SlackReceiver.listener`. */
export function createListener({ signingSecret, log, take }: ListenerOptions) {
  return async (request: IncomingMessage, response: ServerResponse, waitedMs = 0): Promise<void> => {
    const arrivedMs = performance.now() - waitedMs;
    // Neither Node nor Bolt reads the rest of a refused body.
    response.once("finish", () => discardRest(request));
    if (Number(request.headers["content-length"] ?? 0) > bodyLimitBytes) return answer(response, 413);
    let body: unknown;
    try {
      const options = { signingSecret, bodyLimit: bodyLimitBytes };
      body = parse(await HTTPModuleFunctions.parseAndVerifyHTTPRequest(options, request));
    } catch (error) {
      log.warn("A request to the Slack endpoint was refused", { error: String(error) });
      return answer(response, HTTPModuleFunctions.isRawBodyError(error) ? error.statusCode : 401);
    }
    if (typeof body !== "object" || body === null || Array.isArray(body)) {
      return answer(response, 400, "The body is neither a JSON object nor a form.");
    }
    const { data } = check.safeParse(body);
    if (data !== undefined) {
      if ("challenge" in data) return HTTPModuleFunctions.buildUrlVerificationResponse(response, data);
      return answer(response, 200);
    }
    const spentMs = performance.now() - arrivedMs;
    const late = setTimeout(() => {
      log.warn("An event from Slack was not saved in time");
      answer(response, 503);
    }, answerMs - spentMs);
    try {
      if (await take(body, patienceMs - spentMs)) answer(response, 200);
      else answer(response, 400, "The payload lacks fields that this kind always has.");
    } catch (error) {
      log.warn("Slack has to deliver an event again", { error: String(error) });
      answer(response, 503);
    } finally {
      clearTimeout(late);
    }
  };
}

/** Returns the parsed body of a JSON request or a form; null if it can't be parsed. */
function parse(request: Parameters<typeof HTTPModuleFunctions.parseHTTPRequestBody>[0]): unknown {
  try {
    return HTTPModuleFunctions.parseHTTPRequestBody(request);
  } catch {
    return null;
  }
}

/** `text`: a sentence for whoever looks at the answer. */
function answer(response: ServerResponse, status: number, text?: string): void {
  if (response.headersSent) return;
  if (text === undefined) response.writeHead(status).end();
  else response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${text}\n`);
}
