/** The messages of Slack's channel, as its lists show them. */
import type { ReplyEvent } from "#core/event.ts";
import type { ChatPlatform, Posted } from "#test/simulation/world/chat.ts";
import type { Posts } from "./posts.ts";
import type { Cause } from "./wire.ts";

export const botUser = "UBOT";
export const botId = "BBOT";

/** What the wire shows of one of the bot's messages. */
export interface Wire {
  blocks: unknown;
  text: string;
  metadata: unknown;
  edited: boolean;
  gone: boolean;
}

/** A message as lists show it. */
export interface Listed {
  readonly ts: string;
  readonly threadTs: string;
  /** By Slack's clock; of the bot's own, by the machine's time. */
  readonly at: number;
  readonly shown: Readonly<Record<string, unknown>>;
}

export class SlackMessages {
  readonly #chat: ChatPlatform;
  readonly #posts: Posts;
  readonly #wires = new Map<Posted, Wire>();

  constructor(chat: ChatPlatform, posts: Posts) {
    this.#chat = chat;
    this.#posts = posts;
  }

  add(posted: Posted, { text, blocks, metadata }: Pick<Wire, "text" | "blocks" | "metadata">): void {
    this.#wires.set(posted, { text, blocks, metadata, edited: false, gone: false });
  }

  /** The bot's message with this timestamp. */
  own = (ts: string | undefined): readonly [Posted, Wire] | undefined =>
    [...this.#wires].find(([{ id }, { gone }]) => id === ts && !gone);

  /** Every message that exists, oldest first. */
  all(): readonly Listed[] {
    const people = this.#chat.readable.flatMap(({ event }) =>
      event.kind === "reply" ? [saidBy(event)] : [],
    );
    const ours = [...this.#wires].flatMap(([{ id, place, at }, { gone, edited, ...wire }]): Listed[] => {
      if (gone) return [];
      const shown = {
        user: botUser,
        bot_id: botId,
        ts: id,
        ...wire,
        ...(edited ? { edited: { ts: id } } : {}),
      };
      return [{ ts: id, threadTs: place.split(":")[3] ?? id, at, shown }];
    });
    return [...people, ...ours].sort((one, other) => Number(one.ts) - Number(other.ts));
  }

  /** What one copy shows, which may lag. */
  listed(cause: Cause): readonly Listed[] {
    const isShown = this.#posts.copy(cause);
    return this.all().filter(({ at, shown }) => isShown(at, shown.user === botUser));
  }
}

/** The fields of a thread's first message. */
export function threadOf({ ts }: Listed, listed: readonly Listed[]): object {
  const replies = listed.filter((one) => one.threadTs === ts && one.ts !== ts);
  return replies.length === 0
    ? {}
    : { thread_ts: ts, reply_count: replies.length, latest_reply: replies.at(-1)?.ts };
}

function saidBy({ message, place, by, text, mention, at }: ReplyEvent): Listed {
  const shown = {
    type: "message",
    ...(by.bot ? { bot_id: `B-${by.id}` } : {}),
    user: by.id,
    ts: message,
    text: mention ? `<@${botUser}> ${text}` : text,
  };
  return { ts: message, threadTs: place.split(":")[3] ?? message, at: Date.parse(at), shown };
}
