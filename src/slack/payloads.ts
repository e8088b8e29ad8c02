/** What Slack sends, as far as the bot reads it. Unknown fields and unknown kinds are never an error. */
import { z } from "zod";
import { plainAnswerId } from "#slack/send/blocks.ts";

/** https://docs.slack.dev/interactivity/implementing-slash-commands */
export const slashCommand = z.object({
  command: z.string(),
  text: z.string().optional(),
  user_id: z.string().min(1),
  user_name: z.string().optional(),
  channel_id: z.string().min(1),
  trigger_id: z.string().min(1),
  response_url: z.string().optional(),
});
export type SlashCommand = z.infer<typeof slashCommand>;

/** https://docs.slack.dev/reference/events/message and app_mention; both tell of the same message. */
export const messageEvent = z.object({
  type: z.enum(["message", "app_mention"]),
  subtype: z.string().nullish(),
  channel: z.string().min(1),
  channel_type: z.string().nullish(),
  user: z.string().nullish(),
  /** The author's workspace or organization, in a channel that is shared between several. */
  user_team: z.string().nullish(),
  username: z.string().nullish(),
  bot_id: z.string().nullish(),
  bot_profile: z.object({ name: z.string().nullish() }).nullish(),
  user_profile: z.object({ display_name: z.string().nullish(), name: z.string().nullish() }).nullish(),
  text: z.string().nullish(),
  files: z.array(z.unknown()).nullish().catch(null),
  ts: z.string().regex(/^\d{1,11}\.\d{1,6}$/),
  thread_ts: z.string().nullish(),
  parent_user_id: z.string().nullish(),
});
export type MessageEvent = z.infer<typeof messageEvent>;

export const eventCallback = z.object({ type: z.literal("event_callback"), event: messageEvent });

/** https://docs.slack.dev/reference/interaction-payloads/block_actions-payload */
export const blockActions = z.object({
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
        action_ts: z
          .string()
          .regex(/^\d{1,11}\.\d{1,6}$/)
          .nullish()
          .catch(null),
      }),
    )
    .min(1),
});
export type BlockActions = z.infer<typeof blockActions>;

/** A section of ours that holds an answer, or a piece of one, in plain form. */
export const plainAnswer = z.object({
  block_id: z.string().startsWith(plainAnswerId),
  text: z.object({ text: z.string() }),
});

/** A message as `conversations.replies` and `conversations.history` give it. */
export const storedMessage = z.object({
  ts: z.string(),
  subtype: z.string().nullish(),
  user: z.string().nullish(),
  username: z.string().nullish(),
  bot_id: z.string().nullish(),
  bot_profile: z.object({ name: z.string().nullish() }).nullish(),
  text: z.string().nullish(),
  blocks: z.array(z.looseObject({ type: z.string() })).nullish(),
  reply_count: z.number().nullish(),
  edited: z.object({ ts: z.string() }).nullish(),
  metadata: z
    .object({ event_type: z.string(), event_payload: z.looseObject({}).nullish() })
    .nullish()
    // An app may put anything there; what isn't of this form isn't ours.
    .catch(null),
});
export type StoredMessage = z.infer<typeof storedMessage>;

export const messagePage = z.object({
  messages: z.array(storedMessage).nullish(),
  response_metadata: z.object({ next_cursor: z.string().nullish() }).nullish(),
});

/** The same page with its messages as they came, to be read as events are. */
export const rawPage = messagePage.extend({ messages: z.array(z.looseObject({})).nullish() });

/** Subtypes under which somebody says something; the others tell of joins, edits, deletions, topics. */
export const spoken: ReadonlySet<string> = new Set(["file_share", "thread_broadcast", "bot_message"]);
