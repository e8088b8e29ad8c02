import type { SlackChannel, SlackMessage, SlackSnapshot } from "#sandbox/slack/workspace.ts";
import { pageBlocks } from "./blocks.ts";
import { emojiOf } from "./emoji.ts";
import type { NameOf } from "./mrkdwn.ts";
import type { PageMessage, SlackState } from "./page-state.ts";

/** The page shows the newest messages of a channel; replies don't count. */
const mostMessages = 200;

/** Returns the workspace for the page, including ephemeral messages. */
export function slackState(snapshot: SlackSnapshot): SlackState {
  const { users, channels, ephemerals } = snapshot;
  const names = new Map([
    ...users.map(({ id, name }) => [id, name] as const),
    ...channels.map(({ id, name }) => [id, name] as const),
  ]);
  const bots = new Set(users.filter(({ bot }) => bot).map(({ id }) => id));
  const whispers = Object.entries(ephemerals).flatMap(([user, all]) =>
    all.map(({ channel, ...message }) => ({ channel, message, onlyFor: names.get(user) ?? user })),
  );
  const botUser = users.find(({ bot }) => bot);

  return {
    people: users.filter(({ bot }) => !bot).map(({ name }) => name),
    bot: botUser?.name ?? "agent",
    channels: channels.map((channel) => {
      const said = [
        ...channel.messages.map((message) => ({ message, onlyFor: null })),
        ...whispers
          .filter((whisper) => whisper.channel === channel.id)
          .map(({ message, onlyFor }) => ({ message: { ...message, user: botUser?.id ?? "" }, onlyFor })),
      ];
      const messages = threads(said, bots, (id) => names.get(id));
      return {
        id: channel.id,
        name: channel.name,
        hasBot: isMember(channel, bots),
        omitted: Math.max(0, messages.length - mostMessages),
        messages: messages.slice(-mostMessages),
      };
    }),
  };
}

const isMember = ({ members }: SlackChannel, bots: ReadonlySet<string>): boolean =>
  members.some((member) => bots.has(member));

interface SaidMessage {
  readonly message: SlackMessage;
  readonly onlyFor: string | null;
}

/** Puts replies under their first message; without one, a reply is shown by itself. */
function threads(
  said: readonly SaidMessage[],
  bots: ReadonlySet<string>,
  nameOf: NameOf,
): readonly PageMessage[] {
  const inOrder = said.toSorted((one, other) => Number(one.message.ts) - Number(other.message.ts));
  const present = new Set(inOrder.map(({ message }) => message.ts));
  const isReply = ({ ts, thread_ts }: SlackMessage): boolean =>
    thread_ts !== undefined && thread_ts !== ts && present.has(thread_ts);
  const page = (one: SaidMessage, replies: readonly PageMessage[]): PageMessage =>
    pageMessage(one, replies, bots, nameOf);

  const replies = new Map<string, PageMessage[]>();
  for (const one of inOrder.filter(({ message }) => isReply(message))) {
    const root = one.message.thread_ts ?? "";
    replies.set(root, [...(replies.get(root) ?? []), page(one, [])]);
  }
  return inOrder
    .filter(({ message }) => !isReply(message))
    .map((one) => page(one, replies.get(one.message.ts) ?? []));
}

function pageMessage(
  { message, onlyFor }: SaidMessage,
  replies: readonly PageMessage[],
  bots: ReadonlySet<string>,
  nameOf: NameOf,
): PageMessage {
  const blocks = message.blocks ?? [{ type: "section", text: { type: "mrkdwn", text: message.text } }];
  return {
    ts: message.ts,
    author: nameOf(message.user) ?? message.user,
    bot: bots.has(message.user),
    atMs: Math.floor(Number(message.ts) * 1000),
    edited: message.edited !== undefined,
    onlyFor,
    blocks: pageBlocks(blocks, nameOf),
    reactions: (message.reactions ?? []).map(({ name, users }) => ({
      emoji: emojiOf(name) ?? `:${name}:`,
      by: users.map((user) => nameOf(user) ?? user),
    })),
    replies,
  };
}
