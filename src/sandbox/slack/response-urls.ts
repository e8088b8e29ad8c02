import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { ApiContext } from "./api-method.ts";
import { wordsOf } from "./chat-methods.ts";

/** Slack's limits of a response_url. */
const lifetimeMs = 30 * 60_000;
const mostUses = 5;

const request = z.looseObject({
  response_type: z.enum(["ephemeral", "in_channel"]).default("ephemeral"),
  thread_ts: z.string().optional(),
});

export interface ResponseUrls {
  /** A token that leads to the user in the channel; `now` in milliseconds since the epoch. */
  give(user: string, channel: string, now: number): string;
  answer(token: string, body: unknown, context: ApiContext, now: number): Response;
}

/** https://docs.slack.dev/interactivity/handling-user-interaction#message_responses */
export function createResponseUrls(): ResponseUrls {
  const given = new Map<string, { user: string; channel: string; until: number; uses: number }>();

  return {
    give(user, channel, now) {
      const token = randomUUID();
      given.set(token, { user, channel, until: now + lifetimeMs, uses: 0 });
      return token;
    },
    answer(token, body, context, now) {
      const url = given.get(token);
      if (url === undefined) return refused("no_service");
      if (now > url.until) return refused("expired_url");
      if (url.uses >= mostUses) return refused("used_url");
      const parsed = request.safeParse(body);
      if (!parsed.success) return refused("invalid_payload", 400);
      const parts = wordsOf(parsed.data);
      if ("refused" in parts) return refused(String(parts.refused.error), 400);
      const { words } = parts;
      url.uses += 1;
      const thread = parsed.data.thread_ts === undefined ? {} : { thread_ts: parsed.data.thread_ts };
      if (parsed.data.response_type === "ephemeral") {
        context.workspace.whisper(url.user, { channel: url.channel, ...words, ...thread });
      } else {
        const { workspace } = context;
        const { ts } = workspace.add(url.channel, { user: workspace.botUser, ...words, ...thread });
        context.said(url.channel, ts);
      }
      return new Response("ok");
    },
  };
}

const refused = (error: string, status = 404): Response => Response.json({ ok: false, error }, { status });
