import type { Conversation, Step } from "./schema.ts";

/** One text of a conversation; `role` is `user` or `assistant`. An assistant's may be empty. */
export interface SpokenText {
  readonly role: string;
  readonly text: string;
  /** RFC 3339; absent where the API does not tell. */
  readonly at?: string;
}

const spoken = new Set(["user", "assistant"]);

function* textsOf(step: Step): Generator<SpokenText> {
  for (const { role, content, timestamp } of step.messages) {
    if (!spoken.has(role)) continue;
    const text = content
      .flatMap((block) => (block.type === "text" && block.text ? [block.text] : []))
      .join("\n\n");
    // An assistant that said nothing in its turn is worth knowing: what it said before is no answer to it.
    if (role !== "assistant" && text.trim() === "") continue;
    yield { role, text, ...(timestamp ? { at: timestamp } : {}) };
  }
  for (const inner of step.steps) yield* textsOf(inner);
}

/** What was said, oldest first: each step's own messages, then those of the steps inside it. */
export const spokenTexts = (conversation: Conversation): SpokenText[] =>
  conversation.steps.flatMap((step) => [...textsOf(step)]);
