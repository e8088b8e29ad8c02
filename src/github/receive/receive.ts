/** POST /github/webhooks: verify, parse, translate, have it saved, and only then answer 200. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Webhooks } from "@octokit/webhooks";
import { discardRest } from "#base/discard-rest.ts";
import type { Log } from "#base/log.ts";
import type { PlatformEvent } from "#core/event.ts";
import { type Delivery, eventOf } from "#github/understand/event-of.ts";
import type { AskIdentity } from "#github/understand/translate.ts";
import type { Accept } from "#ports.ts";
import { readBody } from "./read-body.ts";

/** GitHub's own limit. https://docs.github.com/webhooks/webhook-events-and-payloads */
export const maxPayloadBytes = 25 * 1024 * 1024;

/** Options of `createListener`. */
export interface ListenerOptions {
  readonly accept: Accept<PlatformEvent>;
  readonly log: Log;
  /** One secret, or several separated by commas while the secret is being changed. */
  readonly webhookSecret: string;
  readonly identity: AskIdentity;
  readonly intake: Intake;
}

/** The other parts of the platform that concern themselves with delivered events. */
export interface Intake {
  /** Whether the bot itself caused the event, in the name of the person whose token it has. */
  isOwn(event: PlatformEvent): boolean;
  /** Notes the name that an event gives its repository, before it is saved. */
  learn(event: PlatformEvent): void;
  /** Notes an event that was saved or ignored. */
  heard(event: PlatformEvent): void;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const answers: Readonly<Record<Awaited<ReturnType<Accept>>, Answer>> = {
  saved: { status: 200, text: "Saved." },
  ignored: { status: 200, text: "Nothing to do." },
  again: { status: 503, text: "This came too early; deliver it again." },
};

/** Returns a check that accepts a signature with any of the secrets. Throws if there is no secret. */
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

/**
 * Creates the listener of `POST /github/webhooks`, which answers every request itself. 200: the event is durable or
 * ignored; 202: not for the bot; 503: GitHub should deliver it again; 4xx: refused. Throws if there is no secret.
 */
export function createListener(options: ListenerOptions) {
  const { accept, log, webhookSecret, identity, intake } = options;
  const verify = createVerify(webhookSecret);

  async function take(payload: unknown, delivery: Delivery): Promise<Answer> {
    const event = await eventOf(payload, delivery, identity);
    if (event === undefined) {
      log.error("A GitHub delivery could not be understood", { ...delivery });
      return { status: 400, text: "The payload lacks fields that this event always has." };
    }
    if (event === null || intake.isOwn(event))
      return { status: 202, text: "This event does not concern the bot." };
    intake.learn(event);
    const taken = await accept(event);
    if (taken !== "again") intake.heard(event);
    return answers[taken];
  }

  async function answerTo(request: IncomingMessage): Promise<Answer | null> {
    const contentType = headerOf(request, "content-type").split(";", 1)[0]?.trim().toLowerCase();
    if (contentType !== "application/json") {
      return { status: 415, text: "Set the webhook's content type to application/json." };
    }
    const body = await readBody(request, maxPayloadBytes);
    if (!body.ok) {
      if (body.reason === "aborted") return null;
      return { status: 413, text: "The payload is larger than 25 MB." };
    }
    if (!(await verify(body.text, headerOf(request, "x-hub-signature-256")))) {
      log.warn("A webhook with a missing or wrong signature was refused");
      return { status: 401, text: "The X-Hub-Signature-256 header does not match the webhook's secret." };
    }
    const delivery = {
      id: headerOf(request, "x-github-delivery"),
      event: headerOf(request, "x-github-event"),
    };
    if (delivery.id === "" || delivery.event === "") {
      return { status: 400, text: "X-GitHub-Delivery and X-GitHub-Event are required." };
    }
    let payload: unknown;
    try {
      payload = JSON.parse(body.text);
    } catch {
      return { status: 400, text: "The body is not JSON." };
    }
    if (delivery.event === "ping") return { status: 200, text: "Pong." };
    return take(payload, delivery).catch((error: unknown) => {
      log.error("A GitHub delivery could not be saved", { ...delivery, reason: String(error) });
      return { status: 503, text: "This could not be saved; deliver it again." };
    });
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const answer = await answerTo(request);
    if (answer === null) return;
    // With "connection: close" the sender would meet a reset instead of the response.
    response.once("finish", () => discardRest(request));
    response.writeHead(answer.status, { "content-type": "text/plain; charset=utf-8" });
    response.end(`${answer.text}\n`);
  };
}
