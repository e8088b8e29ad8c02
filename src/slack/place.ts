import type { MessageId, Place, Scope } from "#core/place.ts";

/** Returns the place of a thread: its team, its channel and the timestamp of its first message. */
export const placeOf = (team: string, channel: string, threadTs: string): Place =>
  `slack:${team}:${channel}:${threadTs}`;

/** Returns the scope of a channel. */
export const scopeOf = (team: string, channel: string): Scope => `slack:${team}:${channel}`;

/** A thread in Slack, or a channel if there is no `threadTs`. */
export interface SlackPlace {
  readonly team: string;
  readonly channel: string;
  /** The timestamp of the thread's first message. */
  readonly threadTs?: string;
}

/** Returns the parts of a place or a scope; null: it is not one of Slack's. */
export function readPlace(at: Place | Scope): SlackPlace | null {
  const [platform, team, channel, threadTs] = at.split(":");
  if (platform !== "slack" || !team || !channel) return null;
  return threadTs ? { team, channel, threadTs } : { team, channel };
}

/**
 * Returns the milliseconds since the epoch of a message's timestamp, such as `1700000000.000100`. Parsing it as one
 * floating-point number would sometimes lose a millisecond.
 */
export function millisecondsOf(ts: MessageId): number {
  const [seconds = "0", fraction = ""] = ts.split(".");
  return Number(seconds) * 1000 + Number(fraction.padEnd(3, "0").slice(0, 3));
}

/** Returns the RFC 3339 time of a message's timestamp. */
export const timeOf = (ts: MessageId): string => new Date(millisecondsOf(ts)).toISOString();

/** Returns a timestamp for Slack's `oldest` and `latest` from milliseconds since the epoch. */
export const timestampOf = (ms: number): string =>
  `${Math.floor(ms / 1000)}.${String(Math.floor(ms % 1000)).padStart(3, "0")}000`;
