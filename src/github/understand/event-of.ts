import type { PlatformEvent } from "#core/event.ts";
import { commented, labeled, labeledPullRequest, transferred, withAction } from "./payload.ts";
import { type AskIdentity, commentEvent, labelEvent, movedEvent, needsIdentity } from "./translate.ts";

/** The webhook events that the bot understands, with their actions. GitHub adds `ping` by itself. */
export const events: Readonly<Record<string, readonly string[]>> = {
  issues: ["labeled", "transferred"],
  pull_request: ["labeled"],
  issue_comment: ["created"],
};

/** The headers of a delivery. */
export interface Delivery {
  /** The GUID, which is the same when the event is delivered again. */
  readonly id: string;
  readonly event: string;
}

/**
 * Returns the event in a webhook's payload; null: none that concerns the bot; undefined: the payload is
 * malformed. Rejects if the event depends on the bot's identity and GitHub does not return it.
 */
export async function eventOf(
  payload: unknown,
  { event, id }: Delivery,
  identity: AskIdentity,
): Promise<PlatformEvent | null | undefined> {
  const action = withAction.safeParse(payload).data?.action;
  if (action === undefined || !events[event]?.includes(action)) return null;
  if (event === "issue_comment") {
    const { data } = commented.safeParse(payload);
    return data && commentEvent(data, needsIdentity.commented(data) ? await identity() : null);
  }
  if (action === "transferred") {
    const { data } = transferred.safeParse(payload);
    return data && movedEvent(data, id);
  }
  const { data } = (event === "issues" ? labeled : labeledPullRequest).safeParse(payload);
  return data && labelEvent(data, id, needsIdentity.labeled(data) ? await identity() : null);
}
