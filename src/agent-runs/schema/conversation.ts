import { z } from "zod";
import { list, maybe, understood } from "./lenient.ts";

/** The participants of a conversation. */
export const knownRoles = ["user", "assistant", "tool", "system"] as const;

/** Each comment names the block types that have the field; all fields but `type` are optional. */
export const block = z.looseObject({
  /** `text`, `action`, `action_result`, `event`, … */
  type: z.string(),
  /** `text`. */
  text: maybe(z.string()),
  /** `action`. */
  id: maybe(z.string()),
  /** `action_result`: the `id` of its action. */
  action_id: maybe(z.string()),
  /** `action` and `action_result`: `command`, `files`, `search`, … */
  category: maybe(z.string()),
  /** `action`, `action_result`, `event`. */
  name: maybe(z.string()),
  /** `action`. */
  input: maybe(z.looseObject({})),
  /** `action_result`: `running`, `completed`, `failed` or `denied`. */
  state: maybe(z.string()),
  /** `action_result`. */
  output: maybe(z.looseObject({})),
  /** `event`. */
  data: maybe(z.looseObject({})),
});
export type Block = z.infer<typeof block>;

/** One participant's turn. */
export const message = z.looseObject({
  /** `user`, `assistant`, `tool`, `system`, … */
  role: z.string(),
  /** RFC 3339. */
  timestamp: maybe(z.string()),
  content: understood(block),
});
export type Message = z.infer<typeof message>;

/** A part of the run's work, with the parts inside it; times are RFC 3339. */
export interface Step {
  readonly id: string;
  readonly description?: string | null | undefined;
  readonly summary?: string | null | undefined;
  readonly started_at?: string | null | undefined;
  readonly completed_at?: string | null | undefined;
  readonly messages: Message[];
  readonly steps: Step[];
}
export const step: z.ZodType<Step> = z.looseObject({
  id: z.string(),
  description: maybe(z.string()),
  summary: maybe(z.string()),
  started_at: maybe(z.string()),
  completed_at: maybe(z.string()),
  messages: list(message),
  get steps() {
    return list(step);
  },
});

/** A run's transcript. */
export const conversation = z.looseObject({ conversation_id: z.string(), steps: list(step) });
export type Conversation = z.infer<typeof conversation>;

/** Answer of `GET /agent/sessions/{uuid}/redirect`; empty if the session leads nowhere else. */
export const sessionRedirect = z.looseObject({ conversation_id: maybe(z.string()) });
export type SessionRedirect = z.infer<typeof sessionRedirect>;
