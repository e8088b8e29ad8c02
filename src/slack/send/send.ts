import { WebAPIPlatformError } from "@slack/web-api";
import type { Log } from "#base/log.ts";
import type { CardEffect, PlatformEffect, ReactEffect, ReplyEffect } from "#core/effect.ts";
import { type Outcome, ofOtherRequest, stillSettling } from "#core/outcome.ts";
import { type MessageId, placeAt } from "#core/place.ts";
import type { Attempt, Clock, Pace, Platform } from "#ports.ts";
import { faultOf, unreachable } from "#slack/faults.ts";
import { createIdentity } from "#slack/identity.ts";
import { createMissed } from "#slack/missed/missed.ts";
import { placeOf, readPlace, type SlackPlace } from "#slack/place.ts";
import { createSlackTime, type SlackTime } from "#slack/slack-time.ts";
import { createClient, defaultTimeoutMs } from "#slack/web-client.ts";
import { createLookUp, metadataOf } from "./look-up.ts";
import { withPlainFallback } from "./plain-fallback.ts";
import { readThread } from "./read.ts";
import { tell } from "./tell.ts";
import { endTwins } from "./twins.ts";

/** Options of `createSlackPlatform`. */
export interface SlackPlatformOptions {
  readonly botToken: string;
  /** Ends in `/api/`; Slack's own when absent. */
  readonly apiUrl?: string;
  readonly log: Log;
  /** A call without an answer is given up after this, 15 seconds if absent; its outcome is then unknown. */
  readonly timeoutMs?: number;
  readonly clock: Pick<Clock, "now" | "elapsed">;
  /** The `fetch` that makes the requests; the platform's own if absent. */
  readonly fetch?: typeof fetch;
  /** Slack's clock, if it is known elsewhere too. */
  readonly time?: SlackTime;
}

/** Slack's lists show a message within this time, by far. */
const settlingMs = 30_000;

const emoji = { taken: "eyes", refused: "no_entry" } as const;

/** Refusals that leave nothing to do: the reaction exists, or the message is gone. */
const settled: ReadonlySet<string> = new Set(["already_reacted", "message_not_found"]);

/** Creates Slack's sending side. */
export function createSlackPlatform(options: SlackPlatformOptions): Platform {
  const { botToken, apiUrl, log, timeoutMs = defaultTimeoutMs, clock } = options;
  const call = options.fetch ?? fetch;
  const { time = createSlackTime(clock, call) } = options;
  const client = createClient(botToken, { apiUrl, log, timeoutMs, fetch: time.fetch });
  const { known: identity, fresh } = createIdentity(client);
  const search = createLookUp(client, identity, time);

  /** Searches for the message that an earlier try posted. Rejects with `SearchFailed`. */
  async function findPosted(
    { id, since }: CardEffect | ReplyEffect,
    place: SlackPlace,
    { settlesInMs }: Attempt,
  ): Promise<MessageId | "absent" | "not listed yet"> {
    let found: MessageId | null = null;
    try {
      const isAbsent = await search({ id, of: id, since, place, isSettling: settlesInMs > 0 }, ({ ts }) => {
        found = ts;
        return false;
      });
      return found ?? (isAbsent ? "absent" : "not listed yet");
    } catch (error) {
      throw new SearchFailed(error);
    }
  }

  /**
   * Posts the effect's view, or finds the message that an earlier try posted. Returns its timestamp; null: none is
   * listed yet, and posting it now might double it.
   */
  async function post(
    effect: CardEffect | ReplyEffect,
    place: SlackPlace,
    attempt: Attempt,
  ): Promise<{ readonly ts: MessageId; readonly found: boolean } | null> {
    const posted = attempt.uncertain ? await findPosted(effect, place, attempt) : "absent";
    if (posted === "not listed yet") return null;
    if (posted !== "absent") return { ts: posted, found: true };
    const { channel, threadTs } = place;
    const { ts } = await withPlainFallback(effect.view, (message) =>
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
    if (!ts) throw new Error("Slack's response names no message");
    return { ts, found: false };
  }

  async function card(effect: CardEffect, place: SlackPlace, attempt: Attempt): Promise<Outcome> {
    const { team, channel, threadTs } = place;
    const posted =
      effect.message === undefined ? await post(effect, place, attempt) : { ts: effect.message, found: true };
    if (posted === null) return settling(effect, attempt);
    const { ts, found } = posted;
    // A card that was found may show an older view. An edit without metadata keeps the metadata of the post.
    if (found) {
      await withPlainFallback(effect.view, (message) => client.chat.update({ channel, ts, ...message }));
    }
    const at = threadTs === undefined ? placeOf(team, channel, ts) : placeAt(effect.at);
    return { ok: true, kind: "card", revision: effect.revision, message: ts, place: at };
  }

  async function react({ message: timestamp, reaction }: ReactEffect, channel: string): Promise<Outcome> {
    try {
      await client.reactions.add({ channel, timestamp, name: emoji[reaction] });
    } catch (error) {
      if (!(error instanceof WebAPIPlatformError) || !settled.has(error.data.error)) throw error;
    }
    return { ok: true, kind: "react" };
  }

  async function perform(effect: PlatformEffect, place: SlackPlace, attempt: Attempt): Promise<Outcome> {
    switch (effect.kind) {
      case "card":
        return card(effect, place, attempt);
      case "reply": {
        const posted = await post(effect, place, attempt);
        if (posted === null) return settling(effect, attempt);
        return { ok: true, kind: "reply", message: posted.ts };
      }
      case "tell":
        return tell(client, { call, timeoutMs }, place, effect);
      case "react":
        return react(effect, place.channel);
      case "label":
        // Slack has no labels: its card shows the state.
        return { ok: true, kind: "label", revision: effect.revision };
      case "read":
        return { ok: true, kind: "read", ...(await readThread(client, await identity(), place, effect)) };
      case "twin-posts": {
        const ended = await endTwins(effect, { client, search, place, log });
        return { ok: true, kind: "twin-posts", ended };
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
    settlingMs,
    paces,
    missed: createMissed({ client, identity, time, clock, log }),
    async perform(effect, attempt) {
      const place = readPlace(effect.at);
      if (place === null) return { ok: false, fault: unreachable };
      try {
        return await perform(effect, place, attempt);
      } catch (error) {
        if (!(error instanceof SearchFailed)) return { ok: false, fault: faultOf(error) };
        const fault = ofOtherRequest(faultOf(error.cause));
        return { ok: false, fault: { ...fault, certainty: "unknown", searching: true } };
      }
    },
    async check() {
      await fresh().catch((error: unknown) => {
        throw new Error(faultOf(error).reason, { cause: error });
      });
    },
  };
}

/** A search that began within the settling time and ended after it proves nothing; the next one does. */
const shortestSettlingMs = 1_000;

const settling = ({ tries }: PlatformEffect, { settlesInMs }: Attempt): Outcome => ({
  ok: false,
  fault: stillSettling(Math.max(settlesInMs, shortestSettlingMs), tries),
});

/**
 * Slack allows a post a second in each channel, and at least fifty edits a minute.
 * https://docs.slack.dev/apis/web-api/rate-limits
 */
function paces(effect: PlatformEffect): readonly Pace[] {
  if (effect.kind === "card" && effect.message !== undefined) {
    return [{ key: "edit", count: 50, perMs: 60_000 }];
  }
  if (effect.kind !== "card" && effect.kind !== "reply") return [];
  return [{ key: `post ${readPlace(effect.at)?.channel}`, count: 1, perMs: 1_000 }];
}

/** Thrown when the search for an earlier post failed; even if Slack refused it, that post may exist. */
class SearchFailed extends Error {
  constructor(cause: unknown) {
    super("The search for an earlier post failed", { cause });
    this.name = "SearchFailed";
  }
}
