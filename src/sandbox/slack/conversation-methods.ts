import {
  type ApiContext,
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
import { isReply, type SlackChannel, type SlackMessage } from "./workspace.ts";

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

/** The listed replies of a thread, oldest first. */
const repliesTo = ({ workspace }: ApiContext, channel: SlackChannel, root: SlackMessage) =>
  channel.messages.filter(
    (message) => isReply(message) && message.thread_ts === root.ts && workspace.isListed(channel.id, message),
  );

/** The fields of a thread's first message. */
const threadFields = (answers: readonly SlackMessage[]) =>
  answers.length === 0 ? {} : { reply_count: answers.length, latest_reply: answers.at(-1)?.ts };

const mostListed = ({ workspace }: ApiContext, usual: number): number =>
  workspace.conditions.reading?.most ?? usual;

/** The first message, whatever `oldest` says, and its replies, oldest first. */
const replies: Method = (params, context) => {
  const { workspace } = context;
  const channel = channelFor(params, context);
  const error = "thread_not_found";
  const root = workspace.root(channel.id, messageFor(params, context, channel, { error }));
  if (root === undefined) throw new Refusal(error);
  const all = repliesTo(context, channel, root);
  const answers = all.filter((message) => within(params, message));
  const { items, rest } = pageOf(params, [root, ...answers], 1000, mostListed(context, 1000));
  const withMetadata = flagParam(params, "include_all_metadata");
  const messages = items.map((message) => ({
    ...messageFields(workspace, channel, message, withMetadata),
    ...(message === root ? threadFields(all) : {}),
  }));
  return { ok: true, messages, ...rest };
};

/** The messages of the channel itself, newest first. */
const history: Method = (params, context) => {
  const channel = channelFor(params, context);
  const said = channel.messages
    .filter((message) => !isReply(message) || message.subtype === "thread_broadcast")
    .filter((message) => within(params, message) && context.workspace.isListed(channel.id, message))
    .toReversed();
  const { items, rest } = pageOf(params, said, 100, mostListed(context, 999));
  const withMetadata = flagParam(params, "include_all_metadata");
  const messages = items.map((each) => ({
    ...messageFields(context.workspace, channel, each, withMetadata),
    ...threadFields(repliesTo(context, channel, each)),
  }));
  return { ok: true, messages, ...rest };
};

const typeOf = { channel: "public_channel", private: "private_channel", im: "im" } as const;

/** The channels of the bot. */
const ofUser: Method = (params, { workspace }) => {
  const types = (textParam(params, "types") || "public_channel").split(",");
  const joined = workspace
    .snapshot()
    .channels.filter(
      ({ kind, members, archived }) =>
        members.includes(workspace.botUser) &&
        types.includes(typeOf[kind]) &&
        !(archived && flagParam(params, "exclude_archived")),
    );
  const { items, rest } = pageOf(params, joined, 100, 999);
  const channels = items.map(({ id, name, kind, shared = false }) =>
    kind === "im" ? { id, name } : { id, name, is_ext_shared: shared },
  );
  return { ok: true, channels, ...rest };
};

/** The methods that read. */
export const conversationMethods: Readonly<Record<string, Method>> = {
  "conversations.replies": replies,
  "conversations.history": history,
  "users.conversations": ofUser,
};
