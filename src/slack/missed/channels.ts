import type { WebClient } from "@slack/web-api";
import { z } from "zod";
import type { Log } from "#base/log.ts";
import type { Scope } from "#core/place.ts";
import { faultOf } from "#slack/faults.ts";
import { scopeOf } from "#slack/place.ts";

/** Each type of channel, with the scope that its list needs. */
const types = {
  public_channel: "channels:read",
  private_channel: "groups:read",
  im: "im:read",
  mpim: "mpim:read",
} as const;
type ChannelType = keyof typeof types;
const allTypes: readonly ChannelType[] = ["public_channel", "private_channel", "im", "mpim"];

/** Pages of the list, of 999 channels each. */
const mostPages = 20;

const listPage = z.object({
  channels: z.array(z.object({ id: z.string().min(1), is_ext_shared: z.boolean().nullish() })).nullish(),
  response_metadata: z.object({ next_cursor: z.string().nullish() }).nullish(),
});

/** The list of the channels and direct messages that the bot is in. */
export interface Channels {
  /** Returns the channels of the types that Slack lists to the app. Rejects as `WebClient` does. */
  list(team: string): Promise<readonly Scope[]>;
  /** Returns whether the channel was listed last as not shared with another company. */
  isInternal(channel: Scope): boolean;
  /** Returns a sentence about the types that Slack did not list; none: it listed all. */
  gaps(): readonly string[];
}

/** Creates the list. */
export function createChannels(client: WebClient, log: Log): Channels {
  /** Types that Slack did not list, which is logged once. */
  const lacking = new Set<ChannelType>();
  let reason = "";
  const internal = new Set<Scope>();

  async function list(team: string, of: readonly ChannelType[]): Promise<readonly Scope[]> {
    const found: Scope[] = [];
    let cursor: string | null = null;
    for (let read = 0; read < mostPages; read += 1) {
      const page = listPage.parse(
        await client.users.conversations({
          types: of.join(","),
          exclude_archived: true,
          limit: 999,
          ...(cursor === null ? {} : { cursor }),
        }),
      );
      for (const { id, is_ext_shared } of page.channels ?? []) {
        const scope = scopeOf(team, id);
        found.push(scope);
        if (is_ext_shared === false) internal.add(scope);
        else internal.delete(scope);
      }
      cursor = page.response_metadata?.next_cursor || null;
      if (cursor === null) break;
    }
    return found;
  }

  /** Returns null if Slack refuses for good, as it does without the scope. */
  async function listOrLack(team: string, of: readonly ChannelType[]): Promise<readonly Scope[] | null> {
    try {
      return await list(team, of);
    } catch (error) {
      const fault = faultOf(error);
      if (fault.retryable) throw error;
      reason = fault.reason;
      return null;
    }
  }

  async function listAll(team: string): Promise<readonly Scope[]> {
    const all = lacking.size === 0 ? await listOrLack(team, allTypes) : null;
    if (all !== null) return all;
    const found: Scope[] = [];
    const before = lacking.size;
    for (const type of allTypes) {
      const some = await listOrLack(team, [type]);
      if (some === null) lacking.add(type);
      else {
        lacking.delete(type);
        found.push(...some);
      }
    }
    if (lacking.size > before) log.warn(unlisted, { scopes: scopesOf(lacking), reason });
    return found;
  }

  return {
    list: listAll,
    isInternal: (channel) => internal.has(channel),
    gaps: () => (lacking.size === 0 ? [] : [`${unlisted} (scopes: ${scopesOf(lacking)}). ${reason}`]),
  };
}

const unlisted =
  "Slack does not list all channels of the bot: messages from while it was away are read back only where it was used before";

const scopesOf = (lacking: Iterable<ChannelType>): string =>
  [...lacking].map((type) => types[type]).join(", ");
