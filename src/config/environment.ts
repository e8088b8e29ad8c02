import { z } from "zod";

/** A whole number between two bounds; `what` says of what. */
const whole = (least: number, most: number, what: string) => {
  const message = `must be a whole number${what}, ${least} to ${most}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, { error: message, abort: true })
    .transform(Number)
    .refine((value) => value >= least && value <= most, message);
};

/** What a path can be put after. */
const isPlain = (url: string): boolean =>
  !/[?#]/.test(url) && new URL(url).username === "" && new URL(url).password === "";
const plainAddress = "must be a plain address, without credentials, ? and #";

/** Credentials travel to these addresses, so they must be encrypted wherever they leave the machine. */
const apiAddress = z
  .url({ protocol: /^https?$/, error: "must be a URL that begins with https://", abort: true })
  .refine((url) => url.startsWith("https:") || isLoopback(new URL(url).hostname), {
    error: "must begin with https://, since the credentials go there; http:// is for this machine only",
    abort: true,
  })
  .refine(isPlain, plainAddress)
  .transform((url) => url.replace(/\/+$/, ""));

/** A token that begins with `prefix`; one that belongs into another variable is recognised. */
const slackToken = (prefix: string, what: string, where: string, others: Readonly<Record<string, string>>) =>
  z.string().superRefine((value, context) => {
    if (value.startsWith(prefix)) return;
    const belongs = Object.entries(others).find(([other]) => value.startsWith(other))?.[1];
    const message = belongs ? `holds what belongs into ${belongs}` : `does not begin with ${prefix}`;
    context.addIssue({ code: "custom", message: `${message}: copy ${what} from ${where}` });
  });

const slackApp = "https://api.slack.com/apps → your app";
const notAToken = (value: string): boolean => !/^xox|^xapp-/.test(value);

/**
 * Every variable that the bot reads, its form and its default; what they mean together is decided by
 * `readConfig`. Each message goes on from the variable's name and never repeats a value.
 */
const environment = z.object({
  HOST: z.string().default("127.0.0.1"),
  PORT: whole(0, 65_535, "").prefault("3000"),
  PUBLIC_URL: z
    .url({
      protocol: /^https?$/,
      error: "must be the URL under which the world reaches the bot, such as https://agents.example.com",
      abort: true,
    })
    .refine(isPlain, plainAddress)
    .transform((url) => url.replace(/\/+$/, ""))
    .optional(),
  DATA_DIR: z.string().default("./data"),
  DATABASE_URL: z
    .never("is set, but Postgres is not supported yet: unset it, and DATA_DIR holds the bot's data")
    .optional(),
  CONFIG_FILE: z.string().optional(),
  AGENT_API_BASE_URL: apiAddress.refine((url) => url.endsWith("/api/v1"), "must end in /api/v1").optional(),
  AGENT_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]+$/, "has characters that no API key has: copy it once more")
    .optional(),
  AGENT_RUN_NAME: z.string().max(200, "must be 200 characters at most").default("agent-runs-bot"),
  AGENT_COMMAND: z.string().optional(),
  AGENT_WORK_DIR: z.string().optional(),
  AGENT_MAX_RUNS: whole(1, 100, " of runs").prefault("4"),
  AGENT_TIMEOUT: whole(1, 86_400, " of seconds").prefault("3600"),
  SLACK_BOT_TOKEN: slackToken(
    "xoxb-",
    "the Bot User OAuth Token (xoxb-…)",
    `${slackApp} → OAuth & Permissions`,
    { "xapp-": "SLACK_APP_TOKEN" },
  ).optional(),
  SLACK_SIGNING_SECRET: z
    .string()
    .refine(
      notAToken,
      `holds a token: copy the Signing Secret from ${slackApp} → Basic Information → App Credentials`,
    )
    .optional(),
  SLACK_APP_TOKEN: slackToken(
    "xapp-",
    "the App-Level Token (xapp-…, scope connections:write)",
    `${slackApp} → Basic Information → App-Level Tokens`,
    { "xoxb-": "SLACK_BOT_TOKEN" },
  ).optional(),
  SLACK_API_URL: apiAddress
    .refine((url) => url.endsWith("/api"), "must end in /api/")
    .transform((url) => `${url}/`)
    .optional(),
  GITHUB_WEBHOOK_SECRET: z
    .string()
    .regex(/[^,\s]/, "is nothing but commas")
    .optional(),
  GITHUB_TOKEN: z
    .string()
    .refine((value) => !value.includes("PRIVATE KEY"), "holds what belongs into GITHUB_PRIVATE_KEY")
    .optional(),
  GITHUB_APP_ID: z
    .string()
    .regex(
      /^(\d+|Iv\w+(\.\w+)?)$/,
      "must be the App ID, a number: copy it from https://github.com/settings/apps → your app → About",
    )
    .optional(),
  GITHUB_PRIVATE_KEY: z.string().optional(),
  GITHUB_API_URL: apiAddress
    .refine(
      (url) => !/^(www\.)?github\.com$/.test(new URL(url).hostname),
      "leads to GitHub's pages and not to its API: unset it, since github.com is the default",
    )
    .optional(),
  POLL_INTERVAL: z
    .string()
    .regex(/^\d{1,4}(\.\d+)?$/, "must be a number of seconds, 0.1 to 3600")
    .transform(Number)
    .refine((value) => value >= 0.1 && value <= 3600, "must be a number of seconds, 0.1 to 3600")
    .prefault("2"),
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"], {
      error: "must be one of trace, debug, info, warn, error, fatal, silent",
    })
    .default("info"),
});

export type Environment = z.output<typeof environment>;
export type Name = keyof Environment;
export const names = environment.keyof().options;

/** What a process is given; the bot's own variables are read with it, others are left alone. */
export type Given = Readonly<Record<string, string | undefined>>;

/** True for an address that only this machine can reach. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);

/**
 * Reads each variable by itself. Spaces around a value are dropped, and an empty one counts as unset.
 * `isSet` tells whether a value was given, a faulty one included; a faulty one reads as its default.
 */
export function readEnvironment(env: Given): {
  values: Environment;
  isSet: (name: Name) => boolean;
  problems: string[];
} {
  const given = new Map(
    names.flatMap((name) => {
      const value = env[name]?.trim();
      return value ? [[name, value] as const] : [];
    }),
  );
  const isSet = (name: Name): boolean => given.has(name);
  const first = environment.safeParse(Object.fromEntries(given));
  if (first.success) return { values: first.data, isSet, problems: [] };
  const faulty = new Map(first.error.issues.map((issue) => [String(issue.path[0]), issue.message]));
  const sound = [...given].filter(([name]) => !faulty.has(name));
  return {
    values: environment.parse(Object.fromEntries(sound)),
    isSet,
    problems: [...faulty].map(([name, message]) => `${name} ${message}.`),
  };
}
