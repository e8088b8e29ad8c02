import type { Conversation, Step } from "../schema.ts";

/** One text of a conversation; `role` is `user` or `assistant`. An assistant's may be empty. */
export interface SpokenText {
  readonly role: string;
  readonly text: string;
  /** RFC 3339; absent if the API does not say. */
  readonly at?: string;
}

const spoken = new Set(["user", "assistant"]);

function* textsOf(step: Step): Generator<SpokenText> {
  for (const { role, content, timestamp } of step.messages) {
    if (!spoken.has(role)) continue;
    const text = content
      .flatMap((block) => (block.type === "text" && block.text ? [block.text] : []))
      .join("\n\n");
    // An assistant's empty turn is kept: its earlier texts are no answer to the latest message.
    if (role !== "assistant" && text.trim() === "") continue;
    yield { role, text, ...(timestamp ? { at: timestamp } : {}) };
  }
  for (const inner of step.steps) yield* textsOf(inner);
}

/** The texts of user and assistant, oldest first: each step's messages, then those of its inner steps. */
export const spokenTexts = (conversation: Conversation): SpokenText[] =>
  conversation.steps.flatMap((step) => [...textsOf(step)]);
