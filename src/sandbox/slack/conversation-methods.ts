import {
  channelFor,
  flagParam,
  type Method,
  messageFor,
  numberParam,
  type Params,
  Refusal,
  textParam,
} from "./method.ts";
import { messageFields } from "./payloads.ts";
import { isReply, type SlackMessage } from "./workspace.ts";

/** Whether a message lies between `oldest` and `latest`. */
function within(params: Params, { ts }: SlackMessage): boolean {
  const oldest = Number(textParam(params, "oldest") || 0);
  const latest = Number(textParam(params, "latest") || Number.MAX_SAFE_INTEGER);
  const at = Number(ts);
  return flagParam(params, "inclusive") ? at >= oldest && at <= latest : at > oldest && at < latest;
}

/** One page of items, with the fields that lead to the next page. */
function pageOf<T>(params: Params, all: readonly T[], otherwise: number, most: number) {
  const cursor = textParam(params, "cursor");
  const start = cursor === "" ? 0 : Number(Buffer.from(cursor, "base64").toString());
  if (!Number.isInteger(start)) throw new Refusal("invalid_cursor");
  const end = start + Math.min(most, Math.max(1, numberParam(params, "limit", otherwise)));
  const more = end < all.length;
  const next = more ? Buffer.from(String(end)).toString("base64") : "";
  return {
    items: all.slice(start, end),
    rest: { has_more: more, response_metadata: { next_cursor: next } },
  };
}

/** The first message, whatever `oldest` says, and its replies, oldest first. */
const replies: Method = (params, context) => {
  const { workspace } = context;
  const channel = channelFor(params, context);
  const error = "thread_not_found";
  const root = workspace.root(channel.id, messageFor(params, context, channel, { error }));
  if (root === undefined) throw new Refusal(error);
  const all = channel.messages.filter((message) => isReply(message) && message.thread_ts === root.ts);
  const answers = all.filter((message) => within(params, message));
  const { items, rest } = pageOf(params, [root, ...answers], 1000, 1000);
  const withMetadata = flagParam(params, "include_all_metadata");
  const messages = items.map((message) => ({
    ...messageFields(workspace, channel, message, withMetadata),
    ...(message === root && all.length > 0 ? { reply_count: all.length } : {}),
  }));
  return { ok: true, messages, ...rest };
};

/** The messages of the channel itself, newest first. */
const history: Method = (params, context) => {
  const channel = channelFor(params, context);
  const said = channel.messages
    .filter((message) => !isReply(message) || message.subtype === "thread_broadcast")
    .filter((message) => within(params, message))
    .toReversed();
  const { items, rest } = pageOf(params, said, 100, 999);
  const withMetadata = flagParam(params, "include_all_metadata");
  const messages = items.map((each) => messageFields(context.workspace, channel, each, withMetadata));
  return { ok: true, messages, ...rest };
};

/** The methods that read. */
export const conversationMethods: Readonly<Record<string, Method>> = {
  "conversations.replies": replies,
  "conversations.history": history,
};
