import type { WebClient } from "@slack/web-api";
import { z } from "zod";
import type { Self } from "./translate.ts";

const answer = z.object({
  team_id: z.string().min(1),
  user_id: z.string().min(1),
  bot_id: z.string().nullish(),
  enterprise_id: z.string().nullish(),
});

/**
 * Asks Slack once who the bot is and remembers the answer. A failure is not remembered: the next call asks
 * again, so that a Slack that was down at start-up is no lasting trouble. Rejects as `WebClient` does.
 */
export function createIdentity(client: WebClient): () => Promise<Self> {
  let known: Promise<Self> | null = null;
  const ask = async (): Promise<Self> => {
    const self = answer.parse(await client.auth.test());
    return {
      teamId: self.team_id,
      userId: self.user_id,
      botId: self.bot_id ?? null,
      enterpriseId: self.enterprise_id ?? null,
    };
  };
  return () => {
    if (known !== null) return known;
    const asked = ask();
    known = asked;
    asked.catch(() => {
      if (known === asked) known = null;
    });
    return asked;
  };
}
