import type { IncomingMessage, ServerResponse } from "node:http";
import { App, HTTPModuleFunctions, HTTPReceiver, type Receiver, type ReceiverEvent } from "@slack/bolt";
import type { Log } from "#base/log.ts";
import type { PersonEvent } from "#core/event.ts";
import type { Accept } from "#ports.ts";
import { createIdentity } from "#slack/identity.ts";
import { isKnownKind, translate } from "#slack/translate.ts";
import { clientOptions, createClient, vendorLog } from "#slack/web-client.ts";
import { refuseOverflow } from "./overflow.ts";
import { createSocket } from "./socket.ts";

export interface SlackReceiverOptions {
  readonly accept: Accept;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly botToken: string;
  /** Turns the HTTP listener on. */
  readonly signingSecret?: string;
  /** Turns Socket Mode on. */
  readonly appToken?: string;
  /** Ends in `/api/`; Slack's own when absent. */
  readonly apiUrl?: string;
}

export interface SlackReceiver {
  /**
   * Answers `POST /slack/events`; present with a signing secret. 200 only when the event is durable or none
   * of ours; 400 for what is no JSON object and no form, 401 for a forged or stale signature, 413 for a body past the limit, 503 when Slack is to
   * deliver it again.
   */
  readonly listener?: (request: IncomingMessage, response: ServerResponse) => void;
  /** Begins to receive. Resolves although Slack may be down; it goes on trying then, and logs. */
  start(): Promise<void>;
  /** Resolves when nothing is received any more and what was being taken in is acked. */
  stop(): Promise<void>;
}

const endpoint = "/slack/events";

/** Slack's largest payload, an interaction that holds its whole message, stays far below. */
const bodyLimitBytes = 1024 * 1024;

/** Thrown when an event was not taken in, so that Slack hears no 200. */
class NotTaken extends Error {
  constructor(event: PersonEvent, why: string, options?: ErrorOptions) {
    super(`${event.id} was not taken in: ${why}`, options);
    this.name = "NotTaken";
  }
}

/** Bolt never acks what it doesn't know; Slack would deliver it again and again. */
class KnowingApp extends App {
  override async processEvent(event: ReceiverEvent): Promise<void> {
    if (isKnownKind(event.body)) await super.processEvent(event);
    else await event.ack();
  }
}

export function createSlackReceiver(options: SlackReceiverOptions): SlackReceiver {
  const { accept, log, now, botToken, signingSecret, appToken, apiUrl } = options;
  const identity = createIdentity(createClient(botToken, { apiUrl, log }));
  const http = signingSecret === undefined ? null : createHttpReceiver(signingSecret, log);
  const app = new KnowingApp({
    receiver: http ?? withoutHttp,
    // Asked anew for each event; a failure here, such as a Slack that is down, makes the answer a 503.
    authorize: async () => {
      const { teamId, userId, botId } = await identity();
      return { botToken, teamId, botUserId: userId, ...(botId === null ? {} : { botId }) };
    },
    clientOptions: clientOptions({ apiUrl, log }),
    logger: vendorLog(log),
    convoStore: false,
  });
  app.error((error) => Promise.reject(error));
  // One middleware for commands, events and buttons alike: acked is only what went through it.
  app.use(async (args) => {
    const event = translate(args.body, await identity(), now());
    if (event !== null) await take(event, accept);
    if ("ack" in args && args.ack !== undefined) await args.ack();
    await args.next();
  });
  const socket =
    appToken === undefined
      ? null
      : createSocket({ appToken, apiUrl, log, take: (event) => app.processEvent(event) });

  return {
    ...(http === null || signingSecret === undefined
      ? {}
      : { listener: createListener(http, signingSecret, log) }),
    async start() {
      if (socket !== null) socket.start();
      await identity().catch((error: unknown) => {
        log.warn("Slack does not answer yet; events are refused until it does", { error: textOf(error) });
      });
    },
    stop: async () => socket?.stop(),
  };
}

async function take(event: PersonEvent, accept: Accept): Promise<void> {
  let taken: Awaited<ReturnType<Accept>>;
  try {
    taken = await accept(event);
  } catch (error) {
    throw new NotTaken(event, textOf(error), { cause: error });
  }
  if (taken === "again") throw new NotTaken(event, "it came before what it belongs to");
}

function createHttpReceiver(signingSecret: string, log: Log): HTTPReceiver {
  return new HTTPReceiver({
    signingSecret,
    endpoints: endpoint,
    // Bolt acks events before it looks at them; this holds the answer back until they are done with.
    processBeforeResponse: true,
    bodyLimit: bodyLimitBytes,
    logger: vendorLog(log),
    processEventErrorHandler: async ({ error, response }) => {
      log.warn("Slack is to deliver an event again", { error: causesOf(error) });
      answer(response, 503);
      return false;
    },
    unhandledRequestHandler: ({ response }) => {
      log.warn("An event from Slack took too long");
      answer(response, 503);
    },
  });
}

const createListener =
  (receiver: HTTPReceiver, signingSecret: string, log: Log) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    if (refuseOverflow(request, response, bodyLimitBytes)) return;
    const [path] = (request.url ?? "").split("?", 1);
    if (request.method !== "POST" || path !== endpoint) answer(response, 404);
    else void receiveSigned(receiver, signingSecret, log, request, response);
  };

/** Bolt breaks on a signed body that is no object, such as `null`: only what it can read is handed to it. */
async function receiveSigned(
  receiver: HTTPReceiver,
  signingSecret: string,
  log: Log,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const options = { signingSecret, bodyLimit: bodyLimitBytes };
  try {
    const verified = await HTTPModuleFunctions.parseAndVerifyHTTPRequest(options, request);
    if (holdsObject(verified)) receiver.requestListener(verified, response);
    else answer(response, 400);
  } catch (error) {
    log.warn("A request to Slack's address was refused", { error: textOf(error) });
    answer(response, HTTPModuleFunctions.isRawBodyError(error) && error.statusCode === 413 ? 413 : 401);
  }
}

function holdsObject(request: Parameters<typeof HTTPModuleFunctions.parseHTTPRequestBody>[0]): boolean {
  try {
    const body: unknown = HTTPModuleFunctions.parseHTTPRequestBody(request);
    return typeof body === "object" && body !== null && !Array.isArray(body);
  } catch {
    return false;
  }
}

function answer(response: ServerResponse, status: number): void {
  if (response.headersSent) return;
  response.writeHead(status);
  response.end();
}

/** Bolt wants a receiver even when events reach it through `processEvent` alone. */
const withoutHttp: Receiver = {
  init: () => {},
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
};

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Bolt wraps what a middleware threw. */
function causesOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const original = "original" in error ? error.original : error.cause;
  return original instanceof Error ? `${error.message} (${original.message})` : error.message;
}
