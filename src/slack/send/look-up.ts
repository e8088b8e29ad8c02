/** Finds the messages that an effect posted, by their metadata. */
import { WebAPIPlatformError, type WebClient } from "@slack/web-api";
import { LRUCache } from "lru-cache";
import type { Effect } from "#core/effect.ts";
import type { EffectId } from "#core/place.ts";
import type { StoredMessage } from "#slack/payloads.ts";
import { millisecondsOf, type SlackPlace, timestampOf } from "#slack/place.ts";
import type { SlackTime } from "#slack/slack-time.ts";
import { isOurs, type Self } from "#slack/translate.ts";
import { type MessagePage, messagePage, readable } from "./message-pages.ts";

const metadataType = "agent_runs_bot";

/** Returns the metadata by which a message that the effect posts is found again. */
export const metadataOf = (effect: Effect) => ({
  event_type: metadataType,
  event_payload: { effect: effect.id, kind: effect.kind },
});

/** Metadata of a twin that stays because people have replied to it; it is no longer found as the effect's. */
export const keptTwinMetadata = { event_type: metadataType, event_payload: { kind: "twin" } };

const payloadOf = ({ metadata }: StoredMessage) =>
  metadata?.event_type === metadataType ? metadata.event_payload : null;

/** Whether the message is one of the bot's cards. */
export const isCard = (message: StoredMessage, self: Self): boolean =>
  isOurs(message, self) && payloadOf(message)?.kind === "card";

/** Whether the message is a twin that stayed, in whose thread no run is told. */
export const isKeptTwin = (message: StoredMessage, self: Self): boolean =>
  isOurs(message, self) && payloadOf(message)?.kind === "twin";

/** Pages of one try; the next try goes on from there, until the whole window is read. */
const mostPages = 50;
/** Unfinished searches that are remembered. */
const mostSearches = 1_000;

/** What to look for. */
export interface Search {
  /** Who searches; a search that failed continues where it stopped. */
  readonly id: EffectId;
  /** The effect that posted. */
  readonly of: EffectId;
  /** Time of that effect's decision, RFC 3339. */
  readonly since: string;
  readonly place: SlackPlace;
  /** The settling time is not over: absence proves nothing. */
  readonly isSettling: boolean;
}

/** The next page of a search. */
interface Position {
  readonly fromMs: number;
  readonly part: "start" | "window";
  readonly cursor: string | null;
  /** The first page was read within the settling time. */
  readonly isSettling: boolean;
}

/** A thread that the list does not show yet is empty. */
function emptyIfUnlisted(error: unknown): MessagePage {
  if (error instanceof WebAPIPlatformError && error.data.error === "thread_not_found") {
    return { messages: [], next: null };
  }
  throw error;
}

/** Creates the search for the bot's own messages. */
export function createLookUp(client: WebClient, identity: () => Promise<Self>, time: SlackTime) {
  const unfinished = new LRUCache<EffectId, Position>({ max: mostSearches });

  /** Returns the position after a page; null: it was the last one to read. */
  function after(
    position: Position,
    next: string | null,
    oldestMs: number,
    isThread: boolean,
  ): Position | null {
    if (next === null) return null;
    // Slack lists a channel's newest messages first, and a thread's oldest.
    if (isThread && position.part === "start") return { ...position, part: "window", cursor: null };
    return isThread || oldestMs >= position.fromMs ? { ...position, cursor: next } : null;
  }

  /**
   * Calls `onFound` with each message that the effect posted until that returns false. The window begins by Slack's own
   * clock; a short thread and a channel's newest page are read whole, which is right even if our clock was set
   * meanwhile. Resolves with whether absence is proven. Rejects as `WebClient` does: then the message may exist.
   */
  async function search(
    { id, of, since, place, isSettling }: Search,
    onFound: (message: StoredMessage) => Promise<boolean> | boolean,
  ): Promise<boolean> {
    // Slack's time is known after its first response.
    const self = await identity();
    const isThread = place.threadTs !== undefined;
    let position: Position = unfinished.get(id) ?? {
      fromMs: time.windowFrom(since),
      part: "start",
      cursor: null,
      isSettling,
    };
    for (let pages = 0; pages < mostPages; pages += 1) {
      const { part, cursor, fromMs } = position;
      const bounds = part === "start" ? {} : { oldest: timestampOf(fromMs) };
      const page = await messagePage(client, place, bounds, cursor).catch(emptyIfUnlisted);
      const messages = readable(page);
      for (const message of messages) {
        if (!isOurs(message, self) || payloadOf(message)?.effect !== of) continue;
        if (await onFound(message)) continue;
        unfinished.delete(id);
        return false;
      }
      const oldestMs = Math.min(...messages.map(({ ts }) => millisecondsOf(ts)));
      const next = after(position, page.next, oldestMs, isThread);
      if (next === null) {
        unfinished.delete(id);
        return !position.isSettling;
      }
      position = next;
      // Apps outside Slack's Marketplace may read one short page a minute: a failed search goes on from here.
      unfinished.set(id, position);
    }
    return false;
  }

  return search;
}
