import type { PersonEvent } from "#core/event.ts";
import type { AskIdentity } from "./identity.ts";
import { commented, labeled, labeledPullRequest, withAction } from "./payload.ts";
import { commentEvent, labelEvent, needsIdentity } from "./translate.ts";

/** What GitHub says of a delivery beside its payload. */
export interface Delivery {
  /** The GUID, the same when the same thing is delivered again. */
  readonly id: string;
  readonly event: string;
}

/**
 * The event in a webhook's payload; `null`: none that concerns us, `undefined`: the payload makes no sense.
 * Rejects if it takes who the bot is to understand it, and GitHub does not say.
 */
export async function eventOf(
  payload: unknown,
  { event, id }: Delivery,
  identity: AskIdentity,
): Promise<PersonEvent | null | undefined> {
  const action = withAction.safeParse(payload).data?.action;
  if ((event === "issues" || event === "pull_request") && action === "labeled") {
    const { data } = (event === "issues" ? labeled : labeledPullRequest).safeParse(payload);
    return data && labelEvent(data, id, needsIdentity.labeled(data) ? await identity() : null);
  }
  if (event === "issue_comment" && action === "created") {
    const { data } = commented.safeParse(payload);
    return data && commentEvent(data, needsIdentity.commented(data) ? await identity() : null);
  }
  return null;
}
