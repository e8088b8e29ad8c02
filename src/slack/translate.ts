import type { ButtonEvent, CommandEvent, PersonEvent, ReplyEvent } from "#core/event.ts";
import type { Person } from "#core/person.ts";
import {
  type BlockActions,
  blockActions,
  eventCallback,
  type MessageEvent,
  messageEvent,
  type SlashCommand,
  slashCommand,
  spoken,
} from "./payloads.ts";
import { millisecondsOf, placeOf, scopeOf, timeOf } from "./place.ts";
import { mentions, plainText, withoutMention } from "./wire-text.ts";

/** Who the bot is in its workspace. */
export interface Self {
  readonly teamId: string;
  readonly userId: string;
  readonly botId: string | null;
  /** The Enterprise Grid organization that the workspace belongs to. */
  readonly enterpriseId: string | null;
}

/**
 * So long after a message of ours its thread may still be on its way into the store: an effect whose outcome
 * is unknown is tried again for a day, and its card stands in Slack all that time.
 */
const recentMs = 24 * 60 * 60_000;

/** Whether the payload is of a kind that may tell an event; all others are acked without a further look. */
export const isKnownKind = (body: unknown): boolean =>
  [eventCallback, blockActions, slashCommand].some((kind) => kind.safeParse(body).success);

/**
 * The event that a payload tells of; null if it is none of the bot's business. `now` in milliseconds since
 * the epoch. The team in every id is the one our token belongs to: in a channel that is shared with another
 * company, the team in the payload may be theirs, and one message must not have two ids.
 */
export function translate(body: unknown, self: Self, now: number): PersonEvent | null {
  const callback = eventCallback.safeParse(body);
  if (callback.success) return fromMessage(callback.data.event, self, now);
  const interaction = blockActions.safeParse(body);
  if (interaction.success) return fromButton(interaction.data, self, now);
  const command = slashCommand.safeParse(body);
  if (command.success) return fromCommand(command.data, self, now);
  return null;
}

/**
 * A message that `conversations.replies` gave, as the event that told of it; null if none did, as of our own:
 * Bolt drops those. Its thread is written down already, so that it never comes too early.
 */
export function translateStored(
  stored: Readonly<Record<string, unknown>>,
  channel: string,
  self: Self,
): ReplyEvent | null {
  const { data } = messageEvent.safeParse({ ...stored, type: "message", channel });
  if (data === undefined || data.user === self.userId) return null;
  return fromMessage(data, self, Number.POSITIVE_INFINITY);
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

function fromMessage(message: MessageEvent, self: Self, now: number): ReplyEvent | null {
  if (message.subtype && !spoken.has(message.subtype)) return null;
  const text = message.text ?? "";
  const threadTs = message.thread_ts ?? message.ts;
  return {
    kind: "reply",
    id: `slack:message:${self.teamId}:${message.channel}:${message.ts}`,
    at: timeOf(message.ts),
    by: guarded(author(message, self), message.user_team, self),
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

function author(message: MessageEvent, self: Self): Person {
  const bot = Boolean(message.bot_id) || message.subtype === "bot_message" || message.user === self.userId;
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

/** In a channel that is shared with another company, its people may write but not use the bot. */
const guarded = (by: Person, team: string | null | undefined, self: Self): Person =>
  !team || team === self.teamId || team === self.enterpriseId ? by : { ...by, permission: "none" };

const person = (id: string, name: string | null | undefined, bot: boolean): Person => ({
  platform: "slack",
  id,
  name: name || id,
  bot,
});
