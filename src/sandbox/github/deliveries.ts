/** Webhooks as GitHub sends them: signed, with a GUID, and never retried by themselves. */
import { createHmac, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { createUnderWay } from "#sandbox/stand-in/under-way.ts";
import { timeOf } from "./snapshot.ts";

/** GitHub's time limit for a receiver. */
const answerWithinMs = 10_000;

/** The first delivery's id. GitHub's ids are too large for a JavaScript number. */
const firstId = 3_804_004_623_172_239_366n;

/** One attempt to deliver a webhook. */
export interface Delivery {
  /** A decimal number; every attempt has its own. */
  readonly id: string;
  /** The same for every attempt. */
  readonly guid: string;
  readonly event: string;
  readonly action: string;
  /** The receiver's HTTP status; null if there was no answer. */
  readonly status: number | null;
  /** RFC 3339. */
  readonly at: string;
  readonly redelivery: boolean;
  readonly durationMs: number;
  /** Id of the repository. */
  readonly repository: number;
}

/** A request as anybody could send it: every part can be forged. */
export interface ForgedRequest {
  readonly payload: unknown;
  readonly event?: string;
  readonly guid?: string;
  /** Signs with this secret instead of the real one. */
  readonly secret?: string;
  /** Sends this signature unchanged; null sends none. */
  readonly signature?: string | null;
  readonly contentType?: string;
}

/** Options of the deliveries. */
export interface DeliveryOptions {
  readonly webhookSecret: string;
  readonly webhookUrl: () => string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly onChange: () => void;
  /** How many webhooks of the bot get each event, such as an App's and a repository's. */
  readonly hooks: number;
  /** The delay of the next redelivery that the API requests, in milliseconds; GitHub promises no order. */
  readonly redeliveryDelayMs: () => number;
}

const signatureOf = (secret: string, body: string): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

/** The payload's fields that the delivery log shows. */
interface EventPayload {
  readonly [field: string]: unknown;
  readonly action: string;
  readonly repository: { readonly id: number };
}

interface Message {
  readonly event: string;
  readonly action: string;
  readonly repository: number;
  readonly body: string;
}

/** Sends webhooks and keeps a log of them. */
export function createDeliveries(options: DeliveryOptions) {
  const { webhookSecret, webhookUrl, now, onChange, hooks, redeliveryDelayMs } = options;
  let suspended = false;
  const log: Delivery[] = [];
  const sent = new Map<string, Message>();
  const { track, idle } = createUnderWay();
  const messageOf = (guid: string): Message => {
    const message = sent.get(guid);
    if (message === undefined) throw new Error(`no delivery ${guid}`);
    return message;
  };

  async function post(body: string, headers: Record<string, string>) {
    const answer = await fetch(webhookUrl(), {
      method: "POST",
      body,
      headers: { accept: "*/*", "user-agent": "GitHub-Hookshot/5ea7f00", ...headers },
      signal: AbortSignal.timeout(answerWithinMs),
    });
    return { status: answer.status, body: await answer.text() };
  }

  async function attempt(guid: string, redelivery: boolean): Promise<Delivery> {
    const message = messageOf(guid);
    const { event, action, repository } = message;
    const beganMs = now();
    const at = timeOf(beganMs);
    const status = await post(message.body, {
      "content-type": "application/json",
      "x-github-event": event,
      "x-github-delivery": guid,
      "x-github-hook-id": "1",
      "x-hub-signature-256": signatureOf(webhookSecret, message.body),
    }).then(
      (answer) => answer.status,
      () => null,
    );
    const id = String(firstId + BigInt(log.length));
    const durationMs = now() - beganMs;
    const delivery = { id, guid, event, action, status, at, redelivery, durationMs, repository };
    log.push(delivery);
    onChange();
    return delivery;
  }

  return {
    /** Every attempt, oldest first. */
    log: log as readonly Delivery[],
    url: webhookUrl,
    bodyOf: (guid: string): string => messageOf(guid).body,

    /** Sends `payload` to each webhook at once; resolves with the first's attempt, whatever its outcome. */
    async deliver(event: string, payload: EventPayload): Promise<Delivery> {
      const { action, repository } = payload;
      const message = { event, action, repository: repository.id, body: JSON.stringify(payload) };
      const unsent = { id: "0", guid: randomUUID(), event, action, repository: repository.id };
      if (suspended) return { ...unsent, status: null, at: timeOf(now()), redelivery: false, durationMs: 0 };
      const attempts = Array.from({ length: hooks }, () => {
        const guid = randomUUID();
        sent.set(guid, message);
        return track(attempt(guid, false));
      });
      const [first] = await Promise.all(attempts);
      if (first === undefined) throw new Error("there is no webhook");
      return first;
    },

    /** While suspended, GitHub makes no deliveries, and its log shows none. */
    suspend(isSuspended: boolean): void {
      suspended = isSuspended;
    },

    /** Sends the same bytes under the same GUID again, as GitHub's "Redeliver" button does. */
    redeliver: (guid: string): Promise<Delivery> => track(attempt(guid, true)),

    /** Redelivers after `redeliveryDelayMs`. */
    redeliverLater(guid: string): void {
      void track(delay(redeliveryDelayMs()).then(() => attempt(guid, true)));
    },

    /** Sends a forged request and returns the answer. */
    send({ payload, event, guid, secret, signature, contentType }: ForgedRequest) {
      const body = typeof payload === "string" ? payload : JSON.stringify(payload);
      const written = signature === undefined ? signatureOf(secret ?? webhookSecret, body) : signature;
      return post(body, {
        "content-type": contentType ?? "application/json",
        "x-github-event": event ?? "issue_comment",
        "x-github-delivery": guid ?? randomUUID(),
        ...(written === null ? {} : { "x-hub-signature-256": written }),
      });
    },

    idle,
  };
}

/** See `createDeliveries`. */
export type Deliveries = ReturnType<typeof createDeliveries>;
