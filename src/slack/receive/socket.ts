import { setTimeout as delay } from "node:timers/promises";
import type { ReceiverEvent } from "@slack/bolt";
import { z } from "zod";
import type { Log } from "#base/log.ts";
import { faultOf } from "#slack/faults.ts";
import { clientOptions, vendorLog } from "#slack/web-client.ts";
import { SocketClient } from "./socket-client.ts";

export interface SocketOptions {
  readonly appToken: string;
  readonly apiUrl?: string | undefined;
  readonly log: Log;
  /** Resolves when the event is done with; a rejection leaves it unacked. */
  readonly take: (event: ReceiverEvent) => Promise<void>;
}

export interface Socket {
  start(): void;
  stop(): Promise<void>;
}

const firstWaitMs = 1_000;
const longestWaitMs = 30_000;
/** A close that the other side never answers must not hold up a shutdown. */
const closeMs = 2_000;
/** An ack that comes later than Slack's three seconds counts for nothing: the event comes again anyhow. */
const takeMs = 3_000;

const body = z.record(z.string(), z.unknown());
const envelope = z.object({
  body,
  ack: z.custom<(response?: unknown) => Promise<void>>((value) => typeof value === "function"),
  retry_num: z.number().nullish(),
  retry_reason: z.string().nullish(),
});

/**
 * Socket Mode with the ack after the work: Bolt's own receiver acks first. The client's own reconnecting is
 * off, because a refusal during it ends as an unhandled rejection, which ends the process; the loop here
 * goes on for as long as it takes.
 */
export function createSocket({ appToken, apiUrl, log, take }: SocketOptions): Socket {
  const client = new SocketClient(
    {
      appToken,
      autoReconnectEnabled: false,
      logger: vendorLog(log),
      clientOptions: clientOptions({ apiUrl, log }),
    },
    () => log.warn("Slack sent what is none of its messages; it is left out"),
  );
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();

  async function receive(message: unknown): Promise<void> {
    const parsed = envelope.safeParse(message);
    if (!parsed.success) return;
    const { ack, body, retry_num, retry_reason } = parsed.data;
    try {
      await take({
        body,
        ack: () => Promise.resolve(),
        ...(typeof retry_num === "number" ? { retryNum: retry_num } : {}),
        ...(typeof retry_reason === "string" ? { retryReason: retry_reason } : {}),
      });
      await ack();
    } catch (error) {
      log.warn("Slack is to deliver an event again", {
        error: error instanceof Error ? error.message : String(error),
      });
    }
  }

  client.on("slack_event", (message: unknown) => {
    // Unacked events come again, to the next process.
    if (stopping.signal.aborted) return;
    const received = receive(message).finally(() => underWay.delete(received));
    underWay.add(received);
  });

  async function connected(): Promise<void> {
    log.info("Connected to Slack");
    await new Promise<void>((resolve) => client.once("disconnected", () => resolve()));
    log.info("The connection to Slack has ended");
  }

  async function stayConnected(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        await client.start();
        // It may have been asked to stop while the connection was being made.
        if (stopping.signal.aborted) await client.disconnect();
        else await connected();
        failures = 0;
      } catch (error) {
        failures += 1;
        const { reason, retryAfterMs } = faultOf(error);
        const waitMs = retryAfterMs ?? Math.min(longestWaitMs, firstWaitMs * 2 ** (failures - 1));
        log.warn("No connection to Slack; trying again", { reason, waitMs });
        await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  }

  let running: Promise<void> | null = null;
  return {
    start() {
      running ??= stayConnected();
    },
    async stop() {
      stopping.abort();
      await Promise.race([Promise.allSettled(underWay), delay(takeMs, undefined, { ref: false })]);
      const closed = running === null ? undefined : client.disconnect();
      await Promise.race([Promise.allSettled([closed, running]), delay(closeMs, undefined, { ref: false })]);
    },
  };
}
