/** The payloads of Slack's events. https://docs.slack.dev/reference/events */
import { randomUUID } from "node:crypto";
import { isReply, type SlackChannel, type SlackMessage, type Workspace } from "./workspace.ts";

/** The JSON of an event, a command or an interaction. */
export type Payload = Readonly<Record<string, unknown>>;

const channelTypes = { channel: "channel", private: "group", im: "im" } as const;

/** The message's fields, as in `conversations.*`; events add the channel. */
export function messageFields(
  workspace: Workspace,
  channel: SlackChannel,
  message: SlackMessage,
  withMetadata: boolean,
): Payload {
  const { metadata, subtype, ...plain } = message;
  const parent = workspace.root(channel.id, message);
  return {
    type: "message",
    team: workspace.team.id,
    ...plain,
    ...(subtype === undefined ? {} : { subtype }),
    ...(isReply(message) && parent !== undefined ? { parent_user_id: parent.user } : {}),
    ...(message.user === workspace.botUser ? botFields(workspace) : {}),
    ...(withMetadata && metadata !== undefined ? { metadata } : {}),
  };
}

const botFields = (workspace: Workspace): Payload => ({
  bot_id: workspace.botId,
  app_id: workspace.appId,
  bot_profile: {
    id: workspace.botId,
    app_id: workspace.appId,
    team_id: workspace.team.id,
    name: workspace.user(workspace.botUser)?.name ?? "agent",
    deleted: false,
  },
});

/** A message was posted. */
export function messageEvent(workspace: Workspace, channel: SlackChannel, message: SlackMessage): Payload {
  return {
    ...messageFields(workspace, channel, message, true),
    ...(message.user === workspace.botUser ? {} : { client_msg_id: randomUUID() }),
    channel: channel.id,
    channel_type: channelTypes[channel.kind],
    event_ts: message.ts,
  };
}

/** A mention is a second event, with its own event id and without some of the fields. */
export function mentionEvent(workspace: Workspace, channel: SlackChannel, message: SlackMessage): Payload {
  const { channel_type: _, ...fields } = messageEvent(workspace, channel, message);
  return { ...fields, type: "app_mention" };
}

/** A message was edited. */
export const changedEvent = (
  workspace: Workspace,
  channel: SlackChannel,
  { before, after }: { readonly before: SlackMessage; readonly after: SlackMessage },
): Payload => ({
  ...hiddenEvent(workspace, channel, "message_changed", before),
  message: messageFields(workspace, channel, after, true),
});

/** A message was deleted. */
export const deletedEvent = (
  workspace: Workspace,
  channel: SlackChannel,
  message: SlackMessage,
): Payload => ({
  ...hiddenEvent(workspace, channel, "message_deleted", message),
  deleted_ts: message.ts,
});

function hiddenEvent(
  workspace: Workspace,
  channel: SlackChannel,
  subtype: string,
  before: SlackMessage,
): Payload {
  const ts = workspace.nextTs();
  return {
    type: "message",
    subtype,
    hidden: true,
    channel: channel.id,
    channel_type: channelTypes[channel.kind],
    ts,
    event_ts: ts,
    previous_message: messageFields(workspace, channel, before, true),
  };
}

/** The envelope of an event; `now` in milliseconds since the epoch. */
export function eventCallback(workspace: Workspace, event: Payload, now: number): Payload {
  const team = workspace.team.id;
  return {
    token: "sandbox-verification-token",
    team_id: team,
    context_team_id: team,
    context_enterprise_id: null,
    api_app_id: workspace.appId,
    event,
    type: "event_callback",
    event_id: `Ev${idOf()}`,
    event_time: Math.floor(now / 1000),
    authorizations: [
      {
        enterprise_id: null,
        team_id: team,
        user_id: workspace.botUser,
        is_bot: true,
        is_enterprise_install: false,
      },
    ],
    is_ext_shared_channel: false,
    event_context: `4-${idOf()}`,
  };
}

/** A random id of the kind that Slack gives events. */
export const idOf = (): string => randomUUID().replaceAll("-", "").slice(0, 16).toUpperCase();
