import { randomBytes } from "node:crypto";
import { z } from "zod";

const secret = z.string().min(20);

/** The credentials between the bot and the stand-ins. */
export const secrets = z.object({
  slackBotToken: secret,
  slackSigningSecret: secret,
  githubToken: secret,
  githubWebhookSecret: secret,
});

const random = (): string => randomBytes(32).toString("base64url");

/** New random credentials, with the prefixes that Slack and GitHub use. */
export const createSecrets = (): z.infer<typeof secrets> => ({
  slackBotToken: `xoxb-${random()}`,
  slackSigningSecret: random(),
  githubToken: `ghp_${random()}`,
  githubWebhookSecret: random(),
});
