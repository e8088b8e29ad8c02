import type { MessageId, Place, Scope } from "#core/place.ts";

/** A thread is named by its team, its channel and the timestamp of its first message. */
export const placeOf = (team: string, channel: string, threadTs: string): Place =>
  `slack:${team}:${channel}:${threadTs}`;

export const scopeOf = (team: string, channel: string): Scope => `slack:${team}:${channel}`;

/** Where a place or a scope lies; `threadTs` is absent in a scope. Null if it is not one of ours. */
export function readPlace(at: Place | Scope): { team: string; channel: string; threadTs?: string } | null {
  const [platform, team, channel, threadTs] = at.split(":");
  if (platform !== "slack" || !team || !channel) return null;
  return threadTs ? { team, channel, threadTs } : { team, channel };
}

/**
 * A message's timestamp, such as `1700000000.000100`, in milliseconds since the epoch. Read digit by digit:
 * as one floating-point number it would lose a millisecond now and then.
 */
export function millisecondsOf(ts: MessageId): number {
  const [seconds = "0", fraction = ""] = ts.split(".");
  return Number(seconds) * 1000 + Number(fraction.padEnd(3, "0").slice(0, 3));
}

export const timeOf = (ts: MessageId): string => new Date(millisecondsOf(ts)).toISOString();

/** The timestamp that Slack's `oldest` and `latest` take, from milliseconds since the epoch. */
export const timestampOf = (ms: number): string =>
  `${Math.floor(ms / 1000)}.${String(Math.floor(ms % 1000)).padStart(3, "0")}000`;
