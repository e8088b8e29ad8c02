import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "#base/log.ts";
import { patienceMs } from "#slack/answer-time.ts";
import { faultOf } from "#slack/faults.ts";
import { clientOptions, vendorLog } from "#slack/web-client.ts";
import { type Envelope, SocketClient } from "./socket-client.ts";

/** Options of `createSocket`. */
export interface SocketOptions {
  readonly appToken: string;
  readonly apiUrl?: string | undefined;
  readonly log: Log;
  /**
   * Resolves when the payload's event is durable, not for the bot, or malformed; a rejection leaves it unacked. The
   * event may wait `patienceMs` for what it belongs to.
   */
  readonly take: (payload: unknown, patienceMs: number) => Promise<unknown>;
}

/** A Socket Mode connection that reconnects whenever it ends. */
export interface Socket {
  /** Starts to connect, and retries until it succeeds. Resolves after the first try. */
  start(): Promise<void>;
  /** Returns whether there is no connection now. */
  connecting(): boolean;
  /** Resolves when the connection is closed and every received event is acked or given up. */
  stop(): Promise<void>;
}

const firstWaitMs = 1_000;
const longestWaitMs = 30_000;
/** A shutdown does not wait longer for Slack to confirm the close. */
const closeMs = 2_000;
/** Slack ignores an ack that comes later than this, and delivers the event again. */
const takeMs = 3_000;

/**
 * Socket Mode that acks an event after it is saved, whereas Bolt's receiver acks first. The client's own reconnecting
 * is off: a refusal during it becomes an unhandled rejection and ends the process.
 */
export function createSocket({ appToken, apiUrl, log, take }: SocketOptions): Socket {
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();
  const tried = Promise.withResolvers<void>();
  let isConnected = false;

  async function receive({ payload, ack }: Envelope): Promise<void> {
    try {
      await take(payload, patienceMs);
      await ack();
    } catch (error) {
      log.warn("Slack has to deliver an event again", { error: String(error) });
    }
  }

  function onEnvelope(envelope: Envelope): void {
    // Slack delivers unacked events again, to the next process.
    if (stopping.signal.aborted) return;
    const received = receive(envelope).finally(() => underWay.delete(received));
    underWay.add(received);
  }

  const client = new SocketClient(
    {
      appToken,
      autoReconnectEnabled: false,
      logger: vendorLog(log),
      clientOptions: clientOptions({ apiUrl, log }),
    },
    onEnvelope,
    () => log.warn("An unreadable frame from Slack was dropped"),
  );

  async function connected(): Promise<void> {
    isConnected = true;
    tried.resolve();
    log.info("Connected to Slack");
    await new Promise<void>((resolve) => client.once("disconnected", () => resolve()));
    isConnected = false;
    log.info("The connection to Slack has ended");
  }

  async function stayConnected(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        await client.start();
        // Stopping may have begun while the connection was being made.
        if (stopping.signal.aborted) await client.disconnect();
        else await connected();
        failures = 0;
      } catch (error) {
        failures += 1;
        tried.resolve();
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
      return tried.promise;
    },
    connecting: () => !isConnected,
    async stop() {
      stopping.abort();
      await Promise.race([Promise.allSettled(underWay), delay(takeMs, undefined, { ref: false })]);
      const closed = running === null ? undefined : client.disconnect();
      await Promise.race([Promise.allSettled([closed, running]), delay(closeMs, undefined, { ref: false })]);
    },
  };
}
