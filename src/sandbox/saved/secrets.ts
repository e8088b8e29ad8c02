import { randomBytes } from "node:crypto";

/** What the bot and the stand-ins prove themselves with to each other, as they would to the real ones. */
export interface Secrets {
  readonly slackBotToken: string;
  readonly slackSigningSecret: string;
  readonly githubToken: string;
  readonly githubWebhookSecret: string;
}

const random = (): string => randomBytes(32).toString("base64url");

export const createSecrets = (): Secrets => ({
  slackBotToken: `xoxb-${random()}`,
  slackSigningSecret: random(),
  githubToken: `ghp_${random()}`,
  githubWebhookSecret: random(),
});
