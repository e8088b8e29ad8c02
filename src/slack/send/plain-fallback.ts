import type { View } from "#core/view.ts";
import { isRefusedForm } from "#slack/faults.ts";
import { type SlackMessage, toMessage, toPlainMessage } from "./blocks.ts";

/**
 * Sends a view with `call`, and once more with the answer as plain text if Slack refuses the form: an agent
 * may write more than Slack's Markdown allows, such as a second table. Rejects as the last call does.
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
