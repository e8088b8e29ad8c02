import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "#base/log.ts";
import type { Accept } from "#ports.ts";
import type { SlackSettings } from "#slack/config.ts";
import { faultOf } from "#slack/faults.ts";
import { createIdentity } from "#slack/identity.ts";
import { readPayload } from "#slack/payloads.ts";
import type { SlackTime } from "#slack/slack-time.ts";
import { translate } from "#slack/translate.ts";
import { createClient } from "#slack/web-client.ts";
import { createListener } from "./http.ts";
import { createSocket } from "./socket.ts";

/** A start does not wait longer for Slack. */
const connectMs = 3_000;

/** Options of `createSlackReceiver`. */
export interface SlackReceiverOptions extends SlackSettings {
  readonly accept: Accept;
  readonly log: Log;
  readonly time: SlackTime;
}

/** Slack's receiving side. */
export interface SlackReceiver {
  /**
   * Answers `POST /slack/events`; absent in Socket Mode. 200: the event is durable or not for the bot; 400:
   * neither a JSON object nor a form, or without fields that its kind always has; 401: forged or stale signature;
   * 413: too long; 503: Slack has to deliver it again. `waitedMs`: how long the request has already waited.
   */
  readonly listener?: (
    request: IncomingMessage,
    response: ServerResponse,
    waitedMs?: number,
  ) => Promise<void>;
  /** Starts to receive. Resolves even if Slack is down; connecting then continues, and is logged. */
  start(): Promise<void>;
  /** Returns whether Socket Mode has no connection. */
  connecting(): boolean;
  /** Resolves when nothing more is received over the socket and all its events are acked or given up. */
  stop(): Promise<void>;
}

/** Creates the receiving side, for HTTP or for Socket Mode. */
export function createSlackReceiver(options: SlackReceiverOptions): SlackReceiver {
  const { accept, log, time, botToken, receive, apiUrl } = options;
  const { known: identity } = createIdentity(createClient(botToken, { apiUrl, log, fetch: time.fetch }));

  /** Resolves with false if the payload is malformed. Rejects if the event was not taken in, so that Slack delivers it again. */
  async function take(body: unknown, patienceMs: number): Promise<boolean> {
    const payload = readPayload(body);
    if (payload === undefined) log.error("A delivery from Slack could not be understood");
    if (!payload) return payload === null;
    const event = translate(payload, await identity(), time.now());
    if (event === null) return true;
    const taken = await accept(event, patienceMs).catch((error: unknown) => {
      throw new Error(`${event.id} was not taken in: ${error}`, { cause: error });
    });
    if (taken === "again") throw new Error(`${event.id} came before what it belongs to`);
    return true;
  }

  const socket = receive.kind === "socket" ? createSocket({ ...receive, apiUrl, log, take }) : null;
  return {
    ...(receive.kind === "http" ? { listener: createListener({ ...receive, log, take }) } : {}),
    async start() {
      const known = identity().catch((error: unknown) => {
        const { reason } = faultOf(error);
        log.warn("Slack can't be used yet; events are refused until it can", {
          reason,
          error: String(error),
        });
      });
      await Promise.race([
        Promise.all([known, socket?.start()]),
        delay(connectMs, undefined, { ref: false }),
      ]);
    },
    connecting: () => socket?.connecting() ?? false,
    stop: async () => socket?.stop(),
  };
}
