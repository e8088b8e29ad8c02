import type { ButtonEvent, CommandEvent, PersonEvent, ReplyEvent } from "#core/event.ts";
import type { Person } from "#core/person.ts";
import {
  type BlockActions,
  type MessageEvent,
  messageEvent,
  type Payload,
  type SlashCommand,
  type StoredMessage,
  spoken,
} from "./payloads.ts";
import { millisecondsOf, placeOf, scopeOf, timeOf } from "./place.ts";
import { mentions, plainText, withoutMention } from "./wire-text.ts";

/** The bot's own identity in its workspace. */
export interface Self {
  readonly teamId: string;
  readonly userId: string;
  readonly botId: string | null;
  /** The Enterprise Grid organization that the workspace belongs to. */
  readonly enterpriseId: string | null;
}

/** Whether the bot posted the message; anybody can post the same text and metadata. */
export const isOurs = (
  { user, bot_id }: Pick<StoredMessage, "user" | "bot_id">,
  { userId, botId }: Self,
): boolean => user === userId || (botId !== null && bot_id === botId);

/** A thread under the bot's message may still be unsaved for this long: an uncertain effect is retried for a day. */
const recentMs = 24 * 60 * 60_000;

/**
 * Returns the payload's event; null: it does not concern the bot. `now`: Slack's time in milliseconds since the epoch.
 * Every id contains the team of the bot's token: in a channel shared with another company the payload may name their
 * team, and one message must not have two ids.
 */
export function translate(payload: Payload, self: Self, now: number): PersonEvent | null {
  switch (payload.kind) {
    case "message":
      return fromMessage(payload.message, self, now, payload.isInternal);
    case "button":
      return fromButton(payload.interaction, self, now);
    case "command":
      return fromCommand(payload.command, self, now);
    default:
      return payload satisfies never;
  }
}

/** A thread that began longer ago is not waited for when its replies are read back. */
const recentWhenReadMs = 3_600_000;

/**
 * Returns the event of a message that Slack listed; null: it does not concern the bot. `now`: Slack's time in
 * milliseconds since the epoch; null: the message's thread is saved already, so the event never comes too early.
 * `isInternal`: no other company is in the channel.
 */
export function translateStored(
  stored: Readonly<Record<string, unknown>>,
  channel: string,
  self: Self,
  now: number | null,
  isInternal = false,
): ReplyEvent | null {
  const { data } = messageEvent.safeParse({ ...stored, type: "message", channel });
  if (data === undefined) return null;
  return fromMessage(
    data,
    self,
    now === null ? Number.POSITIVE_INFINITY : now + recentMs - recentWhenReadMs,
    isInternal,
  );
}

function fromCommand(command: SlashCommand, self: Self, now: number): CommandEvent {
  return {
    kind: "command",
    id: `slack:interaction:${command.trigger_id}`,
    at: new Date(now).toISOString(),
    by: person(command.user_id, command.user_name, false),
    scope: scopeOf(self.teamId, command.channel_id),
    place: null,
    text: plainText(command.text ?? "").trim(),
    ...(command.response_url ? { answerVia: command.response_url } : {}),
  };
}

/** `isInternal`: no other company is in the channel. */
function fromMessage(message: MessageEvent, self: Self, now: number, isInternal = false): ReplyEvent | null {
  if (message.subtype && !spoken.has(message.subtype)) return null;
  if (isOurs(message, self)) return null;
  const text = message.text ?? "";
  const threadTs = message.thread_ts ?? message.ts;
  return {
    kind: "reply",
    id: `slack:message:${self.teamId}:${message.channel}:${message.ts}`,
    at: timeOf(message.ts),
    by: guarded(author(message), message.user_team ?? (isInternal ? null : teamOf(message)), self),
    scope: scopeOf(self.teamId, message.channel),
    place: placeOf(self.teamId, message.channel, threadTs),
    text: plainText(withoutMention(text, self.userId)),
    message: message.ts,
    mention: mentions(text, self.userId) || isDirect(message),
    first: threadTs === message.ts,
    underOurs:
      threadTs !== message.ts &&
      message.parent_user_id === self.userId &&
      now - millisecondsOf(threadTs) < recentMs,
    ...(message.files?.length ? { files: true } : {}),
  };
}

const isDirect = (message: MessageEvent): boolean =>
  message.channel_type === "im" || message.channel.startsWith("D");

/**
 * Returns the author's workspace or organization where there is no `user_team`. A message with files has no `team`
 * either. https://github.com/slackapi/bolt-js/issues/435
 */
const teamOf = ({ user, team, user_profile, files }: MessageEvent): string | null | undefined =>
  team ?? user_profile?.team ?? files?.find((file) => file?.user === user)?.user_team;

function author(message: MessageEvent): Person {
  const bot = Boolean(message.bot_id) || message.subtype === "bot_message";
  const name =
    message.user_profile?.display_name ||
    message.user_profile?.name ||
    message.username ||
    message.bot_profile?.name;
  return person(message.user ?? message.bot_id ?? "unknown", name, bot);
}

function fromButton(interaction: BlockActions, self: Self, now: number): ButtonEvent | null {
  const { container, message, user } = interaction;
  const [pressed] = interaction.actions;
  const channel = interaction.channel?.id ?? container?.channel_id;
  const ts = message?.ts ?? container?.message_ts;
  if (!pressed?.value || !channel || !ts) return null;
  if (pressed.action_id !== "cancel" && pressed.action_id !== "retry") return null;
  const key = interaction.trigger_id ?? `${ts}-${user.id}-${pressed.action_ts ?? pressed.action_id}`;
  return {
    kind: "button",
    id: `slack:interaction:${key}`,
    at: pressed.action_ts ? timeOf(pressed.action_ts) : new Date(now).toISOString(),
    by: guarded(person(user.id, user.username || user.name, false), user.team_id, self),
    scope: scopeOf(self.teamId, channel),
    place: placeOf(self.teamId, channel, message?.thread_ts ?? container?.thread_ts ?? ts),
    action: pressed.action_id,
    dispatch: pressed.value,
    ...(now - millisecondsOf(ts) < recentMs ? {} : { old: true }),
    ...(interaction.response_url ? { answerVia: interaction.response_url } : {}),
  };
}

/** People of another company may write in a shared channel, but not use the bot. */
const guarded = (by: Person, team: string | null | undefined, self: Self): Person =>
  !team || team === self.teamId || team === self.enterpriseId ? by : { ...by, permission: "none" };

const person = (id: string, name: string | null | undefined, bot: boolean): Person => ({
  platform: "slack",
  id,
  name: name || id,
  bot,
});
