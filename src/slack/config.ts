import { z } from "zod";
import { apiAddress, readVariables } from "#config/variables.ts";
import type { Given } from "#ports.ts";

/** The Slack app's credentials from the environment. */
export interface SlackSettings {
  readonly botToken: string;
  /** Slack sends signed requests, or the bot opens a socket to Slack. */
  readonly receive:
    | { readonly kind: "http"; readonly signingSecret: string }
    | { readonly kind: "socket"; readonly appToken: string };
  /** Ends in `/api/`; absent: Slack itself. */
  readonly apiUrl?: string;
}

const app = "https://api.slack.com/apps → your app";

/** A token that begins with `prefix`. `others`: the variables of tokens with other prefixes. */
const token = (prefix: string, name: string, page: string, others: Readonly<Record<string, string>>) =>
  z.string().superRefine((value, context) => {
    if (value.startsWith(prefix)) return;
    const belongs = Object.entries(others).find(([other]) => value.startsWith(other))?.[1];
    const fault = belongs ? `holds the value for ${belongs}` : `does not begin with ${prefix}`;
    context.addIssue({ code: "custom", message: `${fault}: copy ${name} from ${app} → ${page}` });
  });

const variables = {
  SLACK_BOT_TOKEN: token("xoxb-", "the Bot User OAuth Token (xoxb-…)", "OAuth & Permissions", {
    "xapp-": "SLACK_APP_TOKEN",
  }).optional(),
  SLACK_SIGNING_SECRET: z
    .string()
    .refine(
      (value) => !/^xox|^xapp-/.test(value),
      `holds a token: copy the Signing Secret from ${app} → Basic Information → App Credentials`,
    )
    .optional(),
  SLACK_APP_TOKEN: token(
    "xapp-",
    "the App-Level Token (xapp-…, scope connections:write)",
    "Basic Information → App-Level Tokens",
    { "xoxb-": "SLACK_BOT_TOKEN" },
  ).optional(),
  SLACK_API_URL: apiAddress
    .refine((url) => url.endsWith("/api"), "must end in /api/")
    .transform((url) => `${url}/`)
    .optional(),
};

/** The names of the environment variables that are read here. */
export const slackVariables = Object.keys(variables);

/** Reads the Slack app's credentials. `settings` is null if none are set or there are problems. */
export function readSlackSettings(environment: Given): {
  readonly settings: SlackSettings | null;
  readonly problems: readonly string[];
} {
  const { values, isSet, problems } = readVariables(variables, environment);
  const {
    SLACK_BOT_TOKEN: botToken,
    SLACK_SIGNING_SECRET: signingSecret,
    SLACK_APP_TOKEN: appToken,
  } = values;
  const apiUrl = values.SLACK_API_URL;
  const isUnset = problems.length === 0 && Object.values(values).every((value) => value === undefined);
  if (isUnset) return { settings: null, problems };
  const need = (name: string, page: string): void => {
    problems.push(`${name} is missing: copy it from ${app} → ${page}.`);
  };
  if (!isSet("SLACK_BOT_TOKEN")) {
    need("SLACK_BOT_TOKEN", "OAuth & Permissions → Bot User OAuth Token (xoxb-…)");
  }
  if (!isSet("SLACK_SIGNING_SECRET") && !isSet("SLACK_APP_TOKEN")) {
    const otherwise = "or set SLACK_APP_TOKEN for Socket Mode";
    need("SLACK_SIGNING_SECRET", `Basic Information → App Credentials, ${otherwise}`);
  }
  const receive =
    appToken !== undefined
      ? ({ kind: "socket", appToken } as const)
      : signingSecret !== undefined && ({ kind: "http", signingSecret } as const);
  if (botToken === undefined || !receive || problems.length > 0) return { settings: null, problems };
  return { settings: { botToken, receive, ...(apiUrl === undefined ? {} : { apiUrl }) }, problems };
}
