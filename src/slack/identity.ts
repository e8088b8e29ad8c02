import type { WebClient } from "@slack/web-api";
import { z } from "zod";
import { type Remembered, remember } from "#base/remember.ts";
import type { Self } from "./translate.ts";

const response = z.object({
  team_id: z.string().min(1),
  user_id: z.string().min(1),
  bot_id: z.string().nullish(),
  enterprise_id: z.string().nullish(),
});

/** Reads the bot's identity from `auth.test` and remembers it. Rejects as `WebClient` does. */
export const createIdentity = (client: WebClient): Remembered<Self> =>
  remember(async () => {
    const self = response.parse(await client.auth.test());
    return {
      teamId: self.team_id,
      userId: self.user_id,
      botId: self.bot_id ?? null,
      enterpriseId: self.enterprise_id ?? null,
    };
  });
