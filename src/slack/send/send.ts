import { WebAPIPlatformError, type WebClient } from "@slack/web-api";
import type { Log } from "#base/log.ts";
import type { CardEffect, PlatformEffect, ReactEffect, ReplyEffect } from "#core/effect.ts";
import type { Fault, Outcome } from "#core/outcome.ts";
import { type MessageId, placeAt } from "#core/place.ts";
import type { Attempt, Platform } from "#ports.ts";
import { faultOf } from "#slack/faults.ts";
import { createIdentity } from "#slack/identity.ts";
import { placeOf, readPlace } from "#slack/place.ts";
import type { Self } from "#slack/translate.ts";
import { createClient, defaultTimeoutMs } from "#slack/web-client.ts";
import { findPosted, metadataOf } from "./look-up.ts";
import { createMissed } from "./missed.ts";
import { withPlainFallback } from "./plain-fallback.ts";
import { readThread } from "./read.ts";
import { tell } from "./tell.ts";

/** Options of `createSlackPlatform`. */
export interface SlackPlatformOptions {
  readonly botToken: string;
  /** Ends in `/api/`; Slack's own when absent. */
  readonly apiUrl?: string;
  readonly log: Log;
  /** A call without an answer is given up after this; its outcome is then unknown. */
  readonly timeoutMs?: number;
}

const emoji = { taken: "eyes", refused: "no_entry" } as const;

/** Creates Slack's sending side. */
export function createSlackPlatform({
  botToken,
  apiUrl,
  log,
  timeoutMs = defaultTimeoutMs,
}: SlackPlatformOptions): Platform {
  const client = createClient(botToken, { apiUrl, log, timeoutMs });
  const { known: identity, fresh } = createIdentity(client);

  async function perform(effect: PlatformEffect, attempt: Attempt): Promise<Outcome> {
    switch (effect.kind) {
      case "card":
        return card(client, identity, effect, attempt);
      case "reply":
        return reply(client, identity, effect, attempt);
      case "tell":
        return tell(client, timeoutMs, effect);
      case "react":
        return react(client, effect);
      case "label":
        // Slack has no labels: its card shows the state.
        return { ok: true, kind: "label", revision: effect.revision };
      case "read": {
        const context = await readThread(client, await identity(), where(effect.at), effect);
        return { ok: true, kind: "read", ...context };
      }
      case "permission":
        // Slack has no such permissions: everybody who can write in the channel may, unless a list says no.
        return { ok: true, kind: "permission", permission: "write" };
      default:
        return effect satisfies never;
    }
  }

  return {
    name: "slack",
    missed: createMissed({ client, identity, log }),
    perform: async (effect, attempt) => {
      try {
        return await perform(effect, attempt);
      } catch (error) {
        return { ok: false, fault: error instanceof Unperformed ? error.fault : faultOf(error) };
      }
    },
    async check() {
      try {
        await fresh();
      } catch (error) {
        throw new Error(faultOf(error).reason, { cause: error });
      }
    },
  };
}

/** Thrown when an effect fails for a reason other than the response to its own call. */
class Unperformed extends Error {
  readonly fault: Fault;
  constructor(fault: Fault, options?: ErrorOptions) {
    super(fault.reason, options);
    this.name = "Unperformed";
    this.fault = fault;
  }
}

function where(at: string) {
  const place = readPlace(at);
  if (place !== null) return place;
  const reason = "There is no such place in Slack.";
  throw new Unperformed({ certainty: "refused", retryable: false, reason });
}

type Identity = () => Promise<Self>;

async function card(
  client: WebClient,
  identity: Identity,
  effect: CardEffect,
  attempt: Attempt,
): Promise<Outcome> {
  const { team, channel, threadTs } = where(effect.at);
  const { ts, found } =
    effect.message === undefined
      ? await post(client, identity, effect, attempt)
      : { ts: effect.message, found: true };
  // A card that was found may show an older view. An edit without metadata keeps the metadata of the post.
  if (found)
    await withPlainFallback(effect.view, (message) => client.chat.update({ channel, ts, ...message }));
  const place = threadTs === undefined ? placeOf(team, channel, ts) : placeAt(effect.at);
  return { ok: true, kind: "card", revision: effect.revision, message: ts, place };
}

async function reply(
  client: WebClient,
  identity: Identity,
  effect: ReplyEffect,
  attempt: Attempt,
): Promise<Outcome> {
  const { ts } = await post(client, identity, effect, attempt);
  return { ok: true, kind: "reply", message: ts };
}

/** Posts the effect's view, or finds the message that an earlier try posted. Returns its timestamp. */
async function post(
  client: WebClient,
  identity: Identity,
  effect: CardEffect | ReplyEffect,
  attempt: Attempt,
): Promise<{ readonly ts: MessageId; readonly found: boolean }> {
  const { channel, threadTs } = where(effect.at);
  if (attempt.uncertain) {
    const posted = await lookUp(async () => findPosted(client, await identity(), where(effect.at), effect));
    if (posted !== null) return { ts: posted, found: true };
  }
  const answer = await withPlainFallback(effect.view, (message) =>
    client.chat.postMessage({
      channel,
      ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
      ...message,
      metadata: metadataOf(effect),
      unfurl_links: false,
      unfurl_media: false,
    }),
  );
  // The next try looks the message up.
  if (!answer.ts) throw new Error("Slack's response names no message");
  return { ts: answer.ts, found: false };
}

/** A failed search leaves the effect uncertain, even if the search itself was refused. */
async function lookUp(search: () => Promise<MessageId | null>): Promise<MessageId | null> {
  try {
    return await search();
  } catch (error) {
    throw new Unperformed({ ...faultOf(error), certainty: "unknown" }, { cause: error });
  }
}

/** Refusals that leave nothing to do: the reaction exists, or the message is gone. */
const settled: ReadonlySet<string> = new Set(["already_reacted", "message_not_found"]);

async function react(client: WebClient, effect: ReactEffect): Promise<Outcome> {
  const { channel } = where(effect.at);
  try {
    await client.reactions.add({ channel, timestamp: effect.message, name: emoji[effect.reaction] });
  } catch (error) {
    if (!(error instanceof WebAPIPlatformError) || !settled.has(error.data.error)) throw error;
  }
  return { ok: true, kind: "react" };
}
