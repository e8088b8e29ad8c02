import { randomUUID } from "node:crypto";
import { z } from "zod";
import { wordsOf } from "./chat-methods.ts";
import { type ApiContext, Refusal } from "./method.ts";

/** Slack's limits for a response_url. */
const lifetimeMs = 30 * 60_000;
const mostUses = 5;

const request = z.looseObject({
  response_type: z.enum(["ephemeral", "in_channel"]).default("ephemeral"),
  thread_ts: z.string().exactOptional(),
});

/** https://docs.slack.dev/interactivity/handling-user-interaction#message_responses */
export function createResponseUrls() {
  const given = new Map<string, { user: string; channel: string; until: number; uses: number }>();

  return {
    /** Returns a token to respond to the user in the channel; `now` in milliseconds since the epoch. */
    give(user: string, channel: string, now: number): string {
      const token = randomUUID();
      given.set(token, { user, channel, until: now + lifetimeMs, uses: 0 });
      return token;
    },

    /** Posts the body in the token's channel, for everybody or for its user alone. */
    answer(token: string, body: unknown, context: ApiContext, now: number): Response {
      const url = given.get(token);
      if (url === undefined) return refused("no_service");
      if (now > url.until) return refused("expired_url");
      if (url.uses >= mostUses) return refused("used_url");
      const parsed = request.safeParse(body);
      if (!parsed.success) return refused("invalid_payload", 400);
      const { response_type, thread_ts } = parsed.data;
      const { workspace } = context;
      try {
        const said = { ...wordsOf(parsed.data), ...(thread_ts === undefined ? {} : { thread_ts }) };
        url.uses += 1;
        if (response_type === "ephemeral") workspace.whisper(url.user, { channel: url.channel, ...said });
        else context.said(url.channel, workspace.add(url.channel, { user: workspace.botUser, ...said }));
        return new Response("ok");
      } catch (error) {
        if (error instanceof Refusal) return refused(error.message, 400);
        throw error;
      }
    },
  };
}

const refused = (error: string, status = 404): Response => Response.json({ ok: false, error }, { status });
