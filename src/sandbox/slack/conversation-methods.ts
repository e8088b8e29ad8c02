import {
  channelFor,
  failed,
  flagParam,
  type Method,
  numberParam,
  type Params,
  textParam,
} from "./api-method.ts";
import { messageFields } from "./payloads.ts";
import type { SlackMessage } from "./workspace.ts";

/** Whether a message lies between `oldest` and `latest`. */
function within(params: Params, { ts }: SlackMessage): boolean {
  const oldest = Number(textParam(params, "oldest") || 0);
  const latest = Number(textParam(params, "latest") || Number.MAX_SAFE_INTEGER);
  const at = Number(ts);
  return flagParam(params, "inclusive") ? at >= oldest && at <= latest : at > oldest && at < latest;
}

const isReply = ({ ts, thread_ts }: SlackMessage): boolean => thread_ts !== undefined && thread_ts !== ts;

/** One page and what leads to the next; null if the cursor is none of ours. */
function pageOf<T>(params: Params, all: readonly T[], otherwise: number, most: number) {
  const cursor = textParam(params, "cursor");
  const start = cursor === "" ? 0 : Number(Buffer.from(cursor, "base64").toString());
  if (!Number.isInteger(start)) return null;
  const end = start + Math.min(most, Math.max(1, numberParam(params, "limit", otherwise)));
  const more = end < all.length;
  const next = more ? Buffer.from(String(end)).toString("base64") : "";
  return { items: all.slice(start, end), has_more: more, response_metadata: { next_cursor: next } };
}

/** The first message and its replies, oldest first; the first one whatever `oldest` says. */
const replies: Method = (params, context) => {
  const { workspace } = context;
  const channel = channelFor(params, context);
  if ("error" in channel) return failed(channel.error);
  const named = workspace.message(channel.id, textParam(params, "ts"));
  const root = named === undefined ? undefined : workspace.root(channel.id, named);
  if (root === undefined) return failed("thread_not_found");
  const answers = channel.messages.filter(
    (message) => isReply(message) && message.thread_ts === root.ts && within(params, message),
  );
  const page = pageOf(params, [root, ...answers], 1000, 1000);
  if (page === null) return failed("invalid_cursor");
  const { items, ...rest } = page;
  const replyCount = channel.messages.filter(
    (message) => isReply(message) && message.thread_ts === root.ts,
  ).length;
  const withMetadata = flagParam(params, "include_all_metadata");
  const messages = items.map((message) => ({
    ...messageFields(workspace, channel, message, withMetadata),
    ...(message === root && replyCount > 0 ? { reply_count: replyCount } : {}),
  }));
  return { ok: true, messages, ...rest };
};

/** What stands in the channel itself, newest first. */
const history: Method = (params, context) => {
  const channel = channelFor(params, context);
  if ("error" in channel) return failed(channel.error);
  const said = channel.messages
    .filter(
      (message) => (!isReply(message) || message.subtype === "thread_broadcast") && within(params, message),
    )
    .toReversed();
  const page = pageOf(params, said, 100, 999);
  if (page === null) return failed("invalid_cursor");
  const { items, ...rest } = page;
  const withMetadata = flagParam(params, "include_all_metadata");
  return {
    ok: true,
    messages: items.map((message) => messageFields(context.workspace, channel, message, withMetadata)),
    ...rest,
  };
};

export const conversationMethods: Readonly<Record<string, Method>> = {
  "conversations.replies": replies,
  "conversations.history": history,
};
