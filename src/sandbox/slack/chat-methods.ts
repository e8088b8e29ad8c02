import { type Answer, channelFor, failed, type Method, type Params, textParam } from "./api-method.ts";
import { faultsOfBlocks } from "./block-limits.ts";
import { messageFields } from "./payloads.ts";

/** Slack's limit of a message's text. */
const longestText = 40_000;

interface Words {
  readonly text: string;
  readonly blocks?: readonly unknown[];
}

/** Text and blocks of a message, or the error with which Slack refuses them. */
export function wordsOf(params: Params): { readonly words: Words } | { readonly refused: Answer } {
  const text = textParam(params, "text");
  const { blocks } = params;
  if (text === "" && (!Array.isArray(blocks) || blocks.length === 0)) return { refused: failed("no_text") };
  if (text.length > longestText) return { refused: failed("msg_too_long") };
  if (blocks === undefined) return { words: { text } };
  if (!Array.isArray(blocks)) return { refused: failed("invalid_blocks_format") };
  const messages = faultsOfBlocks(blocks);
  if (messages.length > 0) return { refused: failed("invalid_blocks", { response_metadata: { messages } }) };
  return { words: { text, blocks } };
}

const postMessage: Method = (params, context) => {
  const { workspace } = context;
  const channel = channelFor(params, context);
  if ("error" in channel) return failed(channel.error);
  if (channel.archived === true) return failed("is_archived");
  const parts = wordsOf(params);
  if ("refused" in parts) return parts.refused;
  const { words } = parts;
  const threadTs = textParam(params, "thread_ts");
  if (threadTs !== "" && workspace.message(channel.id, threadTs) === undefined) {
    return failed("thread_not_found");
  }
  const message = workspace.add(channel.id, {
    user: workspace.botUser,
    ...words,
    ...(threadTs === "" ? {} : { thread_ts: threadTs }),
    ...(params.metadata === undefined ? {} : { metadata: params.metadata }),
  });
  context.said(channel.id, message.ts);
  return {
    ok: true,
    channel: channel.id,
    ts: message.ts,
    message: messageFields(workspace, channel, message, true),
  };
};

const update: Method = (params, context) => {
  const { workspace } = context;
  const channel = channelFor(params, context);
  if ("error" in channel) return failed(channel.error);
  const ts = textParam(params, "ts");
  const before = workspace.message(channel.id, ts);
  if (before === undefined) return failed("message_not_found");
  if (before.user !== workspace.botUser) return failed("cant_update_message");
  const parts = wordsOf(params);
  if ("refused" in parts) return parts.refused;
  const { words } = parts;
  const { blocks: _, ...kept } = before;
  workspace.replace(channel.id, {
    ...kept,
    ...words,
    ...(params.metadata === undefined ? {} : { metadata: params.metadata }),
    edited: { user: workspace.botId, ts: workspace.nextTs() },
  });
  context.changed(channel.id, before);
  return { ok: true, channel: channel.id, ts, text: words.text };
};

const postEphemeral: Method = (params, context) => {
  const { workspace } = context;
  const channel = channelFor(params, context);
  if ("error" in channel) return failed(channel.error);
  const parts = wordsOf(params);
  if ("refused" in parts) return parts.refused;
  const { words } = parts;
  const user = textParam(params, "user");
  if (!channel.members.includes(user)) return failed("user_not_in_channel");
  const threadTs = textParam(params, "thread_ts");
  const { ts } = workspace.whisper(user, {
    channel: channel.id,
    ...words,
    ...(threadTs === "" ? {} : { thread_ts: threadTs }),
  });
  return { ok: true, message_ts: ts };
};

const getPermalink: Method = (params, context) => {
  const channel = channelFor(params, context);
  if ("error" in channel) return failed(channel.error);
  const ts = textParam(params, "message_ts");
  const message = context.workspace.message(channel.id, ts);
  if (message === undefined) return failed("message_not_found");
  const thread =
    message.thread_ts === undefined || message.thread_ts === ts
      ? ""
      : `?thread_ts=${message.thread_ts}&cid=${channel.id}`;
  const permalink = `https://sandbox.slack.com/archives/${channel.id}/p${ts.replace(".", "")}${thread}`;
  return { ok: true, channel: channel.id, permalink };
};

const addReaction: Method = (params, context) => {
  const { workspace } = context;
  const channel = channelFor(params, context);
  if ("error" in channel) return failed(channel.error);
  const message = workspace.message(channel.id, textParam(params, "timestamp"));
  if (message === undefined) return failed("message_not_found");
  const name = textParam(params, "name");
  if (name === "") return failed("invalid_name");
  const reactions = message.reactions ?? [];
  const given = reactions.find((each) => each.name === name);
  if (given?.users.includes(workspace.botUser)) return failed("already_reacted");
  const users = [...(given?.users ?? []), workspace.botUser];
  workspace.replace(channel.id, {
    ...message,
    reactions: [...reactions.filter((each) => each !== given), { name, users }],
  });
  return { ok: true };
};

export const chatMethods: Readonly<Record<string, Method>> = {
  "chat.postMessage": postMessage,
  "chat.update": update,
  "chat.postEphemeral": postEphemeral,
  "chat.getPermalink": getPermalink,
  "reactions.add": addReaction,
};
