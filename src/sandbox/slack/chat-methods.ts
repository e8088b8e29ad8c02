import { faultsOfBlocks } from "./block-limits.ts";
import { channelFor, type Method, messageFor, type Params, Refusal, textParam } from "./method.ts";
import { messageFields } from "./payloads.ts";
import { isReply } from "./workspace.ts";

/** Slack's limit for a message's text. */
const longestText = 40_000;

interface Words {
  readonly text: string;
  readonly blocks?: unknown[];
}

/** The text and the blocks of a message. Refuses invalid ones as Slack does. */
export function wordsOf(params: Params): Words {
  const text = textParam(params, "text");
  const { blocks } = params;
  if (text === "" && (!Array.isArray(blocks) || blocks.length === 0)) throw new Refusal("no_text");
  if (text.length > longestText) throw new Refusal("msg_too_long");
  if (blocks === undefined) return { text };
  if (!Array.isArray(blocks)) throw new Refusal("invalid_blocks_format");
  const messages = faultsOfBlocks(blocks);
  if (messages.length > 0) throw new Refusal("invalid_blocks", { response_metadata: { messages } });
  return { text, blocks };
}

const threadOf = (params: Params): { thread_ts?: string } => {
  const thread = textParam(params, "thread_ts");
  return thread === "" ? {} : { thread_ts: thread };
};
const metadataOf = ({ metadata }: Params) => (metadata === undefined ? {} : { metadata });

const postMessage: Method = (params, context) => {
  const { workspace } = context;
  // A person's id stands for the direct messages with the app.
  const channel = workspace.directWith(textParam(params, "channel")) ?? channelFor(params, context);
  if (channel.archived === true) throw new Refusal("is_archived");
  const words = wordsOf(params);
  const thread = threadOf(params);
  if (thread.thread_ts !== undefined) {
    messageFor(params, context, channel, { name: "thread_ts", error: "thread_not_found" });
  }
  const message = workspace.add(channel.id, {
    user: workspace.botUser,
    ...words,
    ...thread,
    ...metadataOf(params),
  });
  context.said(channel.id, message);
  const shown = messageFields(workspace, channel, message, true);
  return { ok: true, channel: channel.id, ts: message.ts, message: shown };
};

const update: Method = (params, context) => {
  const { workspace } = context;
  const channel = channelFor(params, context);
  const before = messageFor(params, context, channel, {});
  if (before.user !== workspace.botUser) throw new Refusal("cant_update_message");
  const words = wordsOf(params);
  const { blocks: _, ...kept } = before;
  const edited = { user: workspace.botId, ts: workspace.nextTs() };
  workspace.replace(channel.id, { ...kept, ...words, ...metadataOf(params), edited });
  context.changed(channel.id, before);
  return { ok: true, channel: channel.id, ts: before.ts, text: words.text };
};

const remove: Method = (params, context) => {
  const { workspace } = context;
  const channel = channelFor(params, context);
  const { ts, user } = messageFor(params, context, channel, {});
  if (user !== workspace.botUser) throw new Refusal("cant_delete_message");
  workspace.remove(channel.id, ts);
  return { ok: true, channel: channel.id, ts };
};

const postEphemeral: Method = (params, context) => {
  const { workspace } = context;
  const channel = channelFor(params, context);
  const words = wordsOf(params);
  const user = textParam(params, "user");
  if (!channel.members.includes(user)) throw new Refusal("user_not_in_channel");
  const thread = threadOf(params);
  const { ts } = workspace.whisper(user, { channel: channel.id, ...words, ...thread });
  return { ok: true, message_ts: ts };
};

const getPermalink: Method = (params, context) => {
  const channel = channelFor(params, context);
  const message = messageFor(params, context, channel, { name: "message_ts" });
  const { ts, thread_ts } = message;
  const thread = isReply(message) ? `?thread_ts=${thread_ts}&cid=${channel.id}` : "";
  const permalink = `https://sandbox.slack.com/archives/${channel.id}/p${ts.replace(".", "")}${thread}`;
  return { ok: true, channel: channel.id, permalink };
};

const addReaction: Method = (params, context) => {
  const { workspace } = context;
  const channel = channelFor(params, context);
  const message = messageFor(params, context, channel, { name: "timestamp" });
  const name = textParam(params, "name");
  if (name === "") throw new Refusal("invalid_name");
  const reactions = message.reactions ?? [];
  const given = reactions.find((each) => each.name === name);
  if (given?.users.includes(workspace.botUser)) throw new Refusal("already_reacted");
  const users = [...(given?.users ?? []), workspace.botUser];
  const others = reactions.filter((each) => each !== given);
  workspace.replace(channel.id, { ...message, reactions: [...others, { name, users }] });
  return { ok: true };
};

/** The methods that write. */
export const chatMethods: Readonly<Record<string, Method>> = {
  "chat.postMessage": postMessage,
  "chat.update": update,
  "chat.delete": remove,
  "chat.postEphemeral": postEphemeral,
  "chat.getPermalink": getPermalink,
  "reactions.add": addReaction,
};
