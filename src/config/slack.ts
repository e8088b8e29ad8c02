import type { Environment, Name } from "./environment.ts";

export interface SlackConfig {
  readonly botToken: string;
  /** How Slack reaches the bot: signed requests, or a socket that the bot opens. */
  readonly receive:
    | { readonly kind: "http"; readonly signingSecret: string }
    | { readonly kind: "socket"; readonly appToken: string };
  /** Ends in `/api/`; absent: Slack itself. */
  readonly apiUrl?: string;
}

const app = "https://api.slack.com/apps → your app";

/** The Slack app's credentials; null without any. What is missing is added to `problems`. */
export function readSlack(
  values: Environment,
  isSet: (name: Name) => boolean,
  problems: string[],
): SlackConfig | null {
  const names: Name[] = ["SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET", "SLACK_APP_TOKEN", "SLACK_API_URL"];
  if (!names.some(isSet)) return null;
  if (!isSet("SLACK_BOT_TOKEN")) {
    const where = `${app} → OAuth & Permissions → Bot User OAuth Token (xoxb-…)`;
    problems.push(`SLACK_BOT_TOKEN is missing: copy it from ${where}.`);
  }
  if (!isSet("SLACK_SIGNING_SECRET") && !isSet("SLACK_APP_TOKEN")) {
    const where = `${app} → Basic Information → App Credentials`;
    problems.push(
      `SLACK_SIGNING_SECRET is missing: copy it from ${where}, or set SLACK_APP_TOKEN for Socket Mode.`,
    );
  }
  const {
    SLACK_BOT_TOKEN: botToken,
    SLACK_SIGNING_SECRET: signingSecret,
    SLACK_APP_TOKEN: appToken,
  } = values;
  const apiUrl = values.SLACK_API_URL === undefined ? {} : { apiUrl: values.SLACK_API_URL };
  if (botToken === undefined) return null;
  if (appToken !== undefined) return { botToken, receive: { kind: "socket", appToken }, ...apiUrl };
  if (signingSecret === undefined) return null;
  return { botToken, receive: { kind: "http", signingSecret }, ...apiUrl };
}
