import pino, { type DestinationStream } from "pino";
import type { Log } from "#base/log.ts";

/** Fields that no code should log; their values are redacted if it does. */
const secretFields = ["token", "apiKey", "secret", "password", "authorization", "cookie", "privateKey"];

/**
 * Creates a log that writes JSON lines to `to`. Every value of `secrets` is redacted, also inside messages and
 * errors; values may be added to the list later.
 */
export function createLog(options: {
  readonly level: string;
  readonly secrets: readonly string[];
  readonly to: DestinationStream;
}): Log {
  // Lines contain secrets in their JSON-escaped form.
  const written = (): string[] => options.secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: secretFields.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
        censor: "[secret]",
      },
      hooks: {
        streamWrite: (line) => written().reduce((rest, secret) => rest.replaceAll(secret, "[secret]"), line),
      },
    },
    options.to,
  );
  return {
    debug: (message, fields) => logger.debug(plain(fields), message),
    info: (message, fields) => logger.info(plain(fields), message),
    warn: (message, fields) => logger.warn(plain(fields), message),
    error: (message, fields) => logger.error(plain(fields), message),
  };
}

/** Keeps an error's name, message, code, stack and causes only: clients attach whole requests to theirs. */
function plain(fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const shown = (value: unknown) => (value instanceof Error ? errorFields(value, 0) : value);
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shown(value)]));
}

const deepestCause = 5;

function errorFields(error: Error, depth: number): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  const code = "code" in error ? { code: error.code } : {};
  const because =
    cause instanceof Error && depth < deepestCause ? { cause: errorFields(cause, depth + 1) } : {};
  return { name, message, ...code, stack, ...because };
}
