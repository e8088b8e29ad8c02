import pino, { type DestinationStream } from "pino";
import type { Log } from "#base/log.ts";

/** Names of fields that nobody should log, should somebody do it nevertheless. */
const secretFields = ["token", "apiKey", "secret", "password", "authorization", "cookie", "privateKey"];

/**
 * A log of JSON lines. `secrets` are struck out wherever they turn up, inside messages and errors too,
 * those included that join the list later; `to` is where the lines go.
 */
export function createLog(options: {
  readonly level: string;
  readonly secrets: readonly string[];
  readonly to: DestinationStream;
}): Log {
  // A secret stands in a line as JSON writes it.
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

/** Errors as what they are called, say and come from; clients hang whole requests, headers included, on theirs. */
function plain(fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? told(value, 0) : value]),
  );
}

const deepestCause = 5;

function told(error: Error, depth: number): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  const code = "code" in error ? { code: error.code } : {};
  const why = cause instanceof Error && depth < deepestCause ? { cause: told(cause, depth + 1) } : {};
  return { name, message, ...code, stack, ...why };
}
