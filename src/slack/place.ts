import type { MessageId, Place, Scope } from "#core/place.ts";

/** Returns the place of a thread: its team, its channel and the timestamp of its first message. */
export const placeOf = (team: string, channel: string, threadTs: string): Place =>
  `slack:${team}:${channel}:${threadTs}`;

/** Returns the scope of a channel. */
export const scopeOf = (team: string, channel: string): Scope => `slack:${team}:${channel}`;

/** Returns the parts of a place or a scope, which has no `threadTs`; null: it is not one of Slack's. */
export function readPlace(at: Place | Scope): { team: string; channel: string; threadTs?: string } | null {
  const [platform, team, channel, threadTs] = at.split(":");
  if (platform !== "slack" || !team || !channel) return null;
  return threadTs ? { team, channel, threadTs } : { team, channel };
}

/**
 * Returns the milliseconds since the epoch of a message's timestamp, such as `1700000000.000100`. The digits are
 * read apart, since one floating-point number would lose a millisecond now and then.
 */
export function millisecondsOf(ts: MessageId): number {
  const [seconds = "0", fraction = ""] = ts.split(".");
  return Number(seconds) * 1000 + Number(fraction.padEnd(3, "0").slice(0, 3));
}

/** Returns the time of a message's timestamp, RFC 3339. */
export const timeOf = (ts: MessageId): string => new Date(millisecondsOf(ts)).toISOString();

/** Returns a timestamp for Slack's `oldest` and `latest` from milliseconds since the epoch. */
export const timestampOf = (ms: number): string =>
  `${Math.floor(ms / 1000)}.${String(Math.floor(ms % 1000)).padStart(3, "0")}000`;
