import { parseHttpDate } from "./http-date.ts";

/** A day. A longer wait is a mistake of the sender, and would overflow dates computed from it. */
const longestMs = 24 * 60 * 60 * 1000;

const number = /^\d+(?:\.\d+)?$/;

const within = (ms: number): number => Math.min(Math.max(0, Math.ceil(ms)), longestMs);

/**
 * The wait that an answer asks for, in ms, from 0 to a day: `retry-after-ms`, else `retry-after` in seconds
 * or as an HTTP date. Undefined if absent or unreadable. `nowMs`, since the epoch, counts if the answer has no `date`.
 * Source: RFC 9110, section 10.2.3; the service's own SDKs honour `retry-after-ms`.
 */
export function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const ms = headers.get("retry-after-ms")?.trim();
  if (ms !== undefined && number.test(ms)) return within(Number(ms));
  const value = headers.get("retry-after")?.trim();
  if (value === undefined) return undefined;
  if (number.test(value)) return within(Number(value) * 1000);
  const date = parseHttpDate(value);
  return date === undefined ? undefined : within(date - (parseHttpDate(headers.get("date")) ?? nowMs));
}
