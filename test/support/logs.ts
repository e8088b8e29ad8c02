import type { Log } from "#base/log.ts";

export interface LogLine {
  readonly level: keyof Log;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A log that keeps its lines, oldest first. */
export function recordingLog(): { readonly log: Log; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at =
    (level: keyof Log): Log[typeof level] =>
    (message, fields = {}) => {
      lines.push({ level, message, fields });
    };
  return { log: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }, lines };
}

/** A log that discards its lines. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
