import { createHmac } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Payload } from "./payloads.ts";

/** A request's signature: valid, made with another secret, or ten minutes old. */
export type Signature = "right" | "forged" | "stale";

/** A request to the app. Slack repeats events until it gets a 200; commands and interactions come once. */
export interface Delivery {
  readonly kind: "event" | "command" | "interaction";
  readonly payload: Payload;
  readonly signature?: Signature | undefined;
}

/** The result of one try: the HTTP status, 0 for none; `reason` goes into the next try's header. */
export interface Try {
  readonly status: number;
  readonly reason: "http_error" | "http_timeout" | "connection_failed" | "timeout";
  readonly body: string;
}

/** The repetition of an event. */
export interface Retry {
  /** 1 for the first repetition. */
  readonly number: number;
  readonly reason: string;
}

/** Makes one try. */
export type Send = (delivery: Delivery, retry: Retry | null) => Promise<Try>;

/** Slack's waits before it repeats an event. https://docs.slack.dev/apis/events-api#error-handling */
export const slackRetryDelaysMs: readonly number[] = [1_000, 60_000, 300_000];

/** Delivers, with Slack's repetitions. Resolves with every try; an abort ends the waiting. */
export async function deliver(
  send: Send,
  delivery: Delivery,
  retryDelaysMs: readonly number[],
  signal: AbortSignal,
): Promise<readonly Try[]> {
  const tries = [await send(delivery, null)];
  if (delivery.kind !== "event") return tries;
  for (const waitMs of retryDelaysMs) {
    const last = tries.at(-1);
    if (last === undefined || (last.status >= 200 && last.status < 300)) break;
    await delay(waitMs, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) break;
    tries.push(await send(delivery, { number: tries.length, reason: last.reason }));
  }
  return tries;
}

/** The app's endpoint, and the secret for its requests. */
export interface HttpDeliveryOptions {
  readonly url: () => string;
  readonly signingSecret: string;
  readonly now: () => number;
  /** How long the app may take, in milliseconds; Slack gives three seconds. */
  readonly answerWithinMs: number;
}

/** Delivers over HTTP. */
export const createHttpSend =
  (options: HttpDeliveryOptions): Send =>
  async (delivery, retry) => {
    const { body, contentType } = encodeBody(delivery);
    const request = signedRequest(options, body, contentType, delivery.signature ?? "right");
    const headers: Record<string, string> = { ...request.headers };
    if (retry !== null) {
      headers["x-slack-retry-num"] = String(retry.number);
      headers["x-slack-retry-reason"] = retry.reason;
    }
    try {
      const response = await fetch(options.url(), {
        method: "POST",
        headers,
        body,
        signal: AbortSignal.timeout(options.answerWithinMs),
      });
      return { status: response.status, reason: "http_error", body: await response.text() };
    } catch (error) {
      const timedOut = error instanceof Error && error.name === "TimeoutError";
      return { status: 0, reason: timedOut ? "http_timeout" : "connection_failed", body: "" };
    }
  };

function encodeBody({ kind, payload }: Delivery): { body: string; contentType: string } {
  if (kind === "event") return { body: JSON.stringify(payload), contentType: "application/json" };
  const fields =
    kind === "interaction"
      ? { payload: JSON.stringify(payload) }
      : Object.fromEntries(Object.entries(payload).map(([key, value]) => [key, String(value)]));
  return {
    body: new URLSearchParams(fields).toString(),
    contentType: "application/x-www-form-urlencoded",
  };
}

/** The headers of a signed request. https://docs.slack.dev/authentication/verifying-requests-from-slack */
export function signedRequest(
  { signingSecret, now }: Pick<HttpDeliveryOptions, "signingSecret" | "now">,
  body: string,
  contentType: string,
  signature: Signature,
): { headers: Record<string, string> } {
  const seconds = Math.floor(now() / 1000) - (signature === "stale" ? 600 : 0);
  const secret = signature === "forged" ? `not-${signingSecret}` : signingSecret;
  const digest = createHmac("sha256", secret).update(`v0:${seconds}:${body}`).digest("hex");
  return {
    headers: {
      "content-type": contentType,
      "user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
      "x-slack-request-timestamp": String(seconds),
      "x-slack-signature": `v0=${digest}`,
    },
  };
}
