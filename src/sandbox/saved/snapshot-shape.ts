/** What is read from a file is checked, also when it is our own. The shapes are those of the stand-ins. */
import { z } from "zod";

const text = z.string();
const texts = z.array(text);
const bool = z.boolean();
const number = z.number();

export const secrets = z.object({
  slackBotToken: text.min(20),
  slackSigningSecret: text.min(20),
  githubToken: text.min(20),
  githubWebhookSecret: text.min(20),
});

const slackMessage = z.object({
  ts: text,
  thread_ts: text.exactOptional(),
  user: text,
  text,
  subtype: text.exactOptional(),
  blocks: z.array(z.unknown()).exactOptional(),
  metadata: z.unknown().exactOptional(),
  reactions: z.array(z.object({ name: text, users: texts })).exactOptional(),
  edited: z.object({ user: text, ts: text }).exactOptional(),
});

export const slackSnapshot = z.object({
  team: z.object({ id: text, name: text }),
  users: z.array(z.object({ id: text, name: text, bot: bool })),
  channels: z.array(
    z.object({
      id: text,
      name: text,
      kind: z.enum(["channel", "private", "im"]),
      archived: bool.exactOptional(),
      members: texts,
      messages: z.array(slackMessage),
    }),
  ),
  ephemerals: z.record(
    text,
    z.array(
      z.object({
        ts: text,
        channel: text,
        thread_ts: text.exactOptional(),
        text,
        blocks: z.array(z.unknown()).exactOptional(),
      }),
    ),
  ),
});

const role = z.enum(["admin", "maintain", "write", "triage", "read"]);

export const gitHubSnapshot = z.object({
  bot: text,
  users: z.array(z.object({ login: text, id: number, type: z.enum(["User", "Bot"]) })),
  repos: z.array(
    z.object({
      id: number,
      owner: text,
      name: text,
      private: bool,
      roles: z.record(text, role),
      labels: z.array(z.object({ id: number, name: text, color: text, description: text.nullable() })),
      lastNumber: number,
    }),
  ),
  issues: z.array(
    z.object({
      id: number,
      repo: text,
      number,
      title: text,
      body: text.nullable(),
      user: text,
      state: z.enum(["open", "closed"]),
      locked: bool,
      pullRequest: bool,
      labels: texts,
      createdAt: text,
      updatedAt: text,
    }),
  ),
  comments: z.array(
    z.object({
      id: number,
      repo: text,
      issue: number,
      user: text,
      body: text,
      createdAt: text,
      updatedAt: text,
      reactions: z.array(z.object({ id: number, user: text, content: text })),
    }),
  ),
  lastId: number,
});
