import type { View } from "#core/view.ts";
import { isRefusedForm } from "#slack/faults.ts";
import { type SlackMessage, toMessage, toPlainMessage } from "./blocks.ts";

/**
 * What the agent wrote may be more than Slack's Markdown takes, such as a second table. That must not keep its
 * words from people, so a refused form is followed by a plain one. Rejects as the last call does.
 */
export async function inSomeForm<T>(view: View, call: (message: SlackMessage) => Promise<T>): Promise<T> {
  try {
    return await call(toMessage(view));
  } catch (error) {
    if (!isRefusedForm(error)) throw error;
    return call(toPlainMessage(view));
  }
}
