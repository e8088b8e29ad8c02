/** The fields of Slack's payloads that the bot reads. Unknown fields and unknown kinds are never an error. */
import { z } from "zod";
import { plainAnswerId } from "#slack/send/blocks.ts";

/** https://docs.slack.dev/interactivity/implementing-slash-commands */
const slashCommand = z.object({
  command: z.string(),
  text: z.string().optional(),
  user_id: z.string().min(1),
  user_name: z.string().optional(),
  channel_id: z.string().min(1),
  trigger_id: z.string().min(1),
  response_url: z.string().optional(),
});
/** A slash command. */
export type SlashCommand = z.infer<typeof slashCommand>;

/** The author and text of a message, in events and in lists. */
const said = z.object({
  subtype: z.string().nullish(),
  user: z.string().nullish(),
  username: z.string().nullish(),
  bot_id: z.string().nullish(),
  bot_profile: z.object({ name: z.string().nullish() }).nullish(),
  text: z.string().nullish(),
});

const timestamp = z.string().regex(/^\d{1,11}\.\d{1,6}$/);

/** An attached file, with the person who uploaded it and their workspace or organization. */
const file = z.object({ user: z.string(), user_team: z.string() }).nullable().catch(null);

const messageTypes = ["message", "app_mention"] as const;

/** https://docs.slack.dev/reference/events/message and app_mention; a mention is delivered as both. */
export const messageEvent = said.extend({
  type: z.enum(messageTypes),
  channel: z.string().min(1),
  channel_type: z.string().nullish(),
  /** The author's workspace or organization, in a channel that is shared between several. */
  user_team: z.string().nullish(),
  team: z.string().nullish(),
  user_profile: z
    .object({ display_name: z.string().nullish(), name: z.string().nullish(), team: z.string().nullish() })
    .nullish(),
  files: z.array(file).nullish().catch(null),
  ts: timestamp,
  thread_ts: z.string().nullish(),
  parent_user_id: z.string().nullish(),
});
/** A message, from an event or from a list of messages. */
export type MessageEvent = z.infer<typeof messageEvent>;

/** https://docs.slack.dev/reference/interaction-payloads/block_actions-payload; it has a channel or a container. */
const blockActions = z
  .object({
    type: z.literal("block_actions"),
    trigger_id: z.string().nullish(),
    response_url: z.string().nullish(),
    user: z.object({
      id: z.string().min(1),
      username: z.string().nullish(),
      name: z.string().nullish(),
      team_id: z.string().nullish(),
    }),
    channel: z.object({ id: z.string() }).nullish(),
    container: z
      .object({
        channel_id: z.string().nullish(),
        message_ts: z.string().nullish(),
        thread_ts: z.string().nullish(),
      })
      .nullish(),
    message: z.object({ ts: z.string().nullish(), thread_ts: z.string().nullish() }).nullish(),
    actions: z
      .array(
        z.object({
          action_id: z.string(),
          value: z.string().nullish(),
          action_ts: timestamp.nullish().catch(null),
        }),
      )
      .min(1),
  })
  .refine(({ channel, container }) => Boolean(channel ?? container));
/** The press of a button. */
export type BlockActions = z.infer<typeof blockActions>;

/** The fields that tell a payload's kind. */
const outline = z.looseObject({ type: z.unknown().optional(), command: z.unknown().optional() });

/** https://docs.slack.dev/apis/events-api#callback-field */
const eventCallback = z.object({
  authorizations: z.array(z.looseObject({})).nullish(),
  /** Whether people of other companies are in the channel. */
  is_ext_shared_channel: z.boolean().nullish().catch(null),
  event: z.looseObject({ type: z.string(), subtype: z.unknown().optional() }),
});

/** A payload of a kind that the bot understands. */
export type Payload =
  | { readonly kind: "message"; readonly message: MessageEvent; readonly isInternal?: boolean }
  | { readonly kind: "button"; readonly interaction: BlockActions }
  | { readonly kind: "command"; readonly command: SlashCommand };

/**
 * Returns the payload in the body of a delivery; null: it is of a kind that does not concern the bot; undefined: it
 * lacks fields that its kind always has.
 */
export function readPayload(body: unknown): Payload | null | undefined {
  const { type, command } = outline.safeParse(body).data ?? {};
  if (type === "event_callback") return readEvent(eventCallback.safeParse(body).data);
  if (type === "block_actions") {
    const interaction = blockActions.safeParse(body).data;
    return interaction && { kind: "button", interaction };
  }
  if (type !== undefined || command === undefined) return null;
  const slash = slashCommand.safeParse(body).data;
  return slash && { kind: "command", command: slash };
}

function readEvent(callback: z.infer<typeof eventCallback> | undefined): Payload | null | undefined {
  if (callback === undefined) return undefined;
  const { event, is_ext_shared_channel } = callback;
  const isOther = typeof event.subtype === "string" && !spoken.has(event.subtype);
  if (isOther || !messageTypes.some((type) => type === event.type)) return null;
  const message = messageEvent.safeParse(event).data;
  return message && { kind: "message", message, isInternal: is_ext_shared_channel === false };
}

/** One of the bot's sections that holds an answer, or a part of one, as plain text. */
export const plainAnswer = z.object({
  block_id: z.string().startsWith(plainAnswerId),
  text: z.object({ text: z.string() }),
});

/** A message as `conversations.replies` and `conversations.history` list it. */
export const storedMessage = said.extend({
  ts: timestamp,
  blocks: z.array(z.looseObject({ type: z.string() })).nullish(),
  reply_count: z.number().nullish(),
  /** Of a thread's first message: the timestamp of its newest reply. */
  latest_reply: timestamp.nullish().catch(null),
  edited: z.object({ ts: z.string() }).nullish(),
  metadata: z
    .object({ event_type: z.string(), event_payload: z.looseObject({}).nullish() })
    .nullish()
    // An app may put anything there; the bot's own metadata has this form.
    .catch(null),
});
/** A message in such a list. */
export type StoredMessage = z.infer<typeof storedMessage>;

/** A page of `conversations.replies` or `conversations.history`, with its messages unparsed. */
export const rawPage = z.object({
  messages: z.array(z.looseObject({})).nullish(),
  response_metadata: z.object({ next_cursor: z.string().nullish() }).nullish(),
});

/** Subtypes of messages that people or bots write; the others are joins, edits, deletions and topics. */
export const spoken: ReadonlySet<string> = new Set(["file_share", "thread_broadcast", "bot_message"]);
