/** POST /github/webhooks: verify, parse, translate, have it saved, and only then answer 200. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Webhooks } from "@octokit/webhooks";
import type { Log } from "#base/log.ts";
import { type Delivery, eventOf } from "#github/understand/event-of.ts";
import type { AskIdentity } from "#github/understand/identity.ts";
import type { Accept } from "#ports.ts";
import { readBody } from "./read-body.ts";

/** GitHub sends no larger payload: https://docs.github.com/webhooks/webhook-events-and-payloads */
export const maxPayloadBytes = 25 * 1024 * 1024;

export interface GitHubReceiverOptions {
  readonly accept: Accept;
  readonly log: Log;
  /** One secret, or several with commas between them while it is being changed. */
  readonly webhookSecret: string;
  readonly identity: AskIdentity;
  /** Hears the id of each event that was dealt with, whatever came of it. */
  readonly heard?: (eventId: string) => void;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  /** The rest of the request is not wanted. */
  readonly close?: boolean;
}

const nothingToDo: Answer = { status: 202, text: "This event concerns the bot in no way." };
const unreadable: Answer = { status: 400, text: "The payload lacks fields that this event always has." };

/** Verifies against each secret; at least one is needed, or this throws. */
function createVerify(webhookSecret: string): (body: string, signature: string) => Promise<boolean> {
  const secrets = webhookSecret.split(",").map((secret) => secret.trim());
  const verifiers = secrets.filter((secret) => secret !== "").map((secret) => new Webhooks({ secret }));
  if (verifiers.length === 0) throw new Error("GITHUB_WEBHOOK_SECRET is empty");
  return async (body, signature) => {
    if (body === "" || signature === "") return false;
    for (const verifier of verifiers) {
      if (await verifier.verify(body, signature)) return true;
    }
    return false;
  };
}

const headerOf = (request: IncomingMessage, name: string): string => String(request.headers[name] ?? "");

function parseJson(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
}

/** How long a refused sender may go on, so that it reads the answer instead of a broken connection. */
const graceMs = 1_000;

/** Throws away unread what still arrives, for a moment; then the connection ends. */
function letGo(request: IncomingMessage): void {
  if (request.complete) return;
  request.resume();
  setTimeout(() => request.destroy(), graceMs).unref();
}

/** The listener answers every request by itself and never throws. */
export function createGitHubReceiver(options: GitHubReceiverOptions): {
  listener: (request: IncomingMessage, response: ServerResponse) => void;
} {
  const { accept, log, webhookSecret, identity, heard } = options;
  const verify = createVerify(webhookSecret);

  async function take(payload: unknown, delivery: Delivery): Promise<Answer> {
    const event = await eventOf(payload, delivery, identity);
    if (event === undefined) {
      log.error("a GitHub delivery could not be understood", { ...delivery });
      return unreadable;
    }
    if (event === null) return nothingToDo;
    const taken = await accept(event);
    if (taken !== "again") heard?.(event.id);
    switch (taken) {
      case "saved":
        return { status: 200, text: "Saved." };
      case "ignored":
        return { status: 200, text: "Nothing to do." };
      case "again":
        return { status: 503, text: "This came too early; please redeliver it." };
      default:
        return taken satisfies never;
    }
  }

  async function answerTo(request: IncomingMessage): Promise<Answer | null> {
    if (request.method !== "POST") return { status: 405, text: "Only POST is understood here." };
    const contentType = headerOf(request, "content-type").split(";", 1)[0]?.trim().toLowerCase();
    if (contentType !== "application/json") {
      return { status: 415, text: "Set the webhook's content type to application/json.", close: true };
    }
    const body = await readBody(request, maxPayloadBytes);
    if (!body.ok) {
      if (body.reason === "aborted") return null;
      return { status: 413, text: "GitHub sends no payload above 25 MB.", close: true };
    }
    if (!(await verify(body.text, headerOf(request, "x-hub-signature-256")))) {
      log.warn("a webhook with a missing or wrong signature was refused");
      return { status: 401, text: "The X-Hub-Signature-256 header does not fit the webhook's secret." };
    }
    const delivery = {
      id: headerOf(request, "x-github-delivery"),
      event: headerOf(request, "x-github-event"),
    };
    if (delivery.id === "" || delivery.event === "") {
      return { status: 400, text: "X-GitHub-Delivery and X-GitHub-Event are required." };
    }
    const payload = parseJson(body.text);
    if (!payload.ok) return { status: 400, text: "The body is not JSON." };
    if (delivery.event === "ping") return { status: 200, text: "Pong." };
    return take(payload.value, delivery).catch((error: unknown) => {
      log.error("a GitHub delivery could not be saved", { ...delivery, reason: String(error) });
      return { status: 503, text: "This could not be saved; please redeliver it." };
    });
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await answerTo(request);
    if (answer === null) return;
    // Not by "connection: close": with unread bytes the sender would meet a reset instead of the answer.
    if (answer.close) response.once("finish", () => letGo(request));
    response.writeHead(answer.status, { "content-type": "text/plain; charset=utf-8" });
    response.end(`${answer.text}\n`);
  }

  return {
    listener(request, response) {
      handle(request, response).catch((error: unknown) => {
        log.error("a GitHub webhook could not be answered", { reason: String(error) });
        response.destroy();
      });
    },
  };
}
