import type { View } from "#core/view.ts";
import { isRefusedForm } from "#slack/faults.ts";
import { type SlackMessage, toMessage, toPlainMessage } from "./blocks.ts";

/**
 * Sends a view with `call`. If Slack refuses the form, sends it again with the answer as plain text: an agent's
 * Markdown may exceed Slack's, for example with a second table. Rejects as the last call does.
 */
export async function withPlainFallback<T>(
  view: View,
  call: (message: SlackMessage) => Promise<T>,
): Promise<T> {
  try {
    return await call(toMessage(view));
  } catch (error) {
    if (!isRefusedForm(error)) throw error;
    return call(toPlainMessage(view));
  }
}
