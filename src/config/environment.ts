import { z } from "zod";
import type { Given, PlatformKind } from "#ports.ts";
import { apiAddress, plain, readVariables, whole } from "./variables.ts";

const seconds = "must be a number of seconds, 0.1 to 3600";

/** Every variable that the bot reads besides its platforms'; `readConfig` decides what they mean together. */
const shape = {
  HOST: z.string().default("127.0.0.1"),
  PORT: whole(0, 65_535, "").prefault("3000"),
  PUBLIC_URL: plain(
    z.url({
      protocol: /^https?$/,
      error: "must be the URL under which the world reaches the bot, such as https://agents.example.com",
      abort: true,
    }),
  ).optional(),
  DATA_DIR: z.string().default("./data"),
  DATABASE_URL: z
    .never("is set, but Postgres is not supported yet: unset it, and DATA_DIR holds the bot's data")
    .optional(),
  CONFIG_FILE: z.string().optional(),
  AGENT_API_BASE_URL: apiAddress.refine((url) => url.endsWith("/api/v1"), "must end in /api/v1").optional(),
  AGENT_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]+$/, "contains characters that are not valid in an API key: copy it again")
    .optional(),
  AGENT_RUN_NAME: z.string().max(200, "must be 200 characters at most").default("agent-runs-bot"),
  AGENT_COMMAND: z.string().optional(),
  AGENT_WORK_DIR: z.string().optional(),
  AGENT_MAX_RUNS: whole(1, 100, " of runs").prefault("4"),
  AGENT_TIMEOUT: whole(1, 86_400, " of seconds").prefault("3600"),
  POLL_INTERVAL: z
    .string()
    .regex(/^\d{1,4}(\.\d+)?$/, seconds)
    .transform(Number)
    .refine((value) => value >= 0.1 && value <= 3600, seconds)
    .prefault("2"),
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"], {
      error: "must be one of trace, debug, info, warn, error, fatal, silent",
    })
    .default("info"),
};

/** A variable of the bot's own. */
export type Name = keyof typeof shape;

/** Reads the bot's own variables; see `readVariables`. */
export const readEnvironment = (environment: Given) => readVariables(shape, environment);

/** The bot's own variables, parsed. */
export type Environment = ReturnType<typeof readEnvironment>["values"];

/** Every variable that the bot reads, those of these platforms included. */
export const namesWith = (platforms: readonly PlatformKind[]): readonly string[] => [
  ...Object.keys(shape),
  ...platforms.flatMap(({ variables }) => variables),
];

/** The variables that no other program uses, so that a similar name is most likely a misspelling. */
export const distinctiveNames = (platforms: readonly PlatformKind[]): readonly string[] => {
  const platformNames = platforms.flatMap(({ variables }) => variables);
  return [...Object.keys(shape).filter((name) => name.startsWith("AGENT_")), ...platformNames];
};
