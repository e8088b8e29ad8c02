import { WebAPIPlatformError, type WebClient } from "@slack/web-api";
import type { Log } from "#base/log.ts";
import type { CardEffect, PlatformEffect, ReactEffect, ReplyEffect } from "#core/effect.ts";
import type { Fault, Outcome } from "#core/outcome.ts";
import type { MessageId } from "#core/place.ts";
import type { Attempt, Platform } from "#ports.ts";
import { faultOf } from "#slack/faults.ts";
import { createIdentity } from "#slack/identity.ts";
import { placeOf, readPlace } from "#slack/place.ts";
import type { Self } from "#slack/translate.ts";
import { createClient } from "#slack/web-client.ts";
import { findPosted, metadataOf } from "./look-up.ts";
import { createMissed } from "./missed.ts";
import { inSomeForm } from "./plain-fallback.ts";
import { readThread } from "./read.ts";
import { tell } from "./tell.ts";

export interface SlackPlatformOptions {
  readonly botToken: string;
  /** Ends in `/api/`; Slack's own when absent. */
  readonly apiUrl?: string;
  readonly log: Log;
  /** How long an answer may take before the outcome is unknown. */
  readonly timeoutMs?: number;
}

const emoji = { taken: "eyes", refused: "no_entry" } as const;

/** Slack's sending side. `check` asks who the bot is. */
export function createSlackPlatform({ botToken, apiUrl, log, timeoutMs }: SlackPlatformOptions): Platform {
  const client = createClient(botToken, { apiUrl, log, timeoutMs });
  const identity = createIdentity(client);

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
        const { channel, threadTs } = where(effect.at);
        if (threadTs === undefined) throw new NoSuchPlace();
        return {
          ok: true,
          kind: "read",
          ...(await readThread(client, await identity(), { channel, threadTs }, effect)),
        };
      }
      case "permission":
        // Slack grants nothing of the kind: whoever can write in the channel may, unless a list says no.
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
        await client.auth.test();
      } catch (error) {
        throw new Error(faultOf(error).reason, { cause: error });
      }
    },
  };
}

/** Thrown when an effect can't be performed for a reason that is not the answer to its own call. */
class Unperformed extends Error {
  readonly fault: Fault;
  constructor(fault: Fault, options?: ErrorOptions) {
    super(fault.reason, options);
    this.name = "Unperformed";
    this.fault = fault;
  }
}

class NoSuchPlace extends Unperformed {
  constructor() {
    super({ certainty: "refused", retryable: false, reason: "There is no such place in Slack." });
  }
}

function where(at: string) {
  const place = readPlace(at);
  if (place === null) throw new NoSuchPlace();
  return place;
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
  // A card that was found may show an older view. Without metadata of its own the message keeps that of its
  // first posting.
  if (found) await inSomeForm(effect.view, (message) => client.chat.update({ channel, ts, ...message }));
  const place = threadTs === undefined ? placeOf(team, channel, ts) : effect.at;
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

/** Posts the effect's view, or finds the message that an earlier try posted. */
async function post(
  client: WebClient,
  identity: Identity,
  effect: CardEffect | ReplyEffect,
  attempt: Attempt,
): Promise<{ readonly ts: MessageId; readonly found: boolean }> {
  const { channel, threadTs } = where(effect.at);
  const target = threadTs === undefined ? { channel } : { channel, threadTs };
  if (attempt.uncertain) {
    const posted = await lookUp(async () => findPosted(client, await identity(), target, effect));
    if (posted !== null) return { ts: posted, found: true };
  }
  const answer = await inSomeForm(effect.view, (message) =>
    client.chat.postMessage({
      channel,
      ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
      ...message,
      metadata: metadataOf(effect),
      unfurl_links: false,
      unfurl_media: false,
    }),
  );
  // Without a timestamp it can't be known where it stands; the next try looks it up.
  if (!answer.ts) throw new Error("Slack's answer names no message");
  return { ts: answer.ts, found: false };
}

/** A failed search leaves the effect as uncertain as it was, whatever became of the search itself. */
async function lookUp(search: () => Promise<MessageId | null>): Promise<MessageId | null> {
  try {
    return await search();
  } catch (error) {
    throw new Unperformed({ ...faultOf(error), certainty: "unknown" }, { cause: error });
  }
}

/** Reactions that need no second try: it is there, or there is nothing left to react to. */
const done: ReadonlySet<string> = new Set(["already_reacted", "message_not_found"]);

async function react(client: WebClient, effect: ReactEffect): Promise<Outcome> {
  const { channel } = where(effect.at);
  try {
    await client.reactions.add({ channel, timestamp: effect.message, name: emoji[effect.reaction] });
  } catch (error) {
    if (!(error instanceof WebAPIPlatformError) || !done.has(error.data.error)) throw error;
  }
  return { ok: true, kind: "react" };
}
