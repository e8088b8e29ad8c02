import { createHash, timingSafeEqual } from "node:crypto";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Whether the two are the same, in a time that tells nothing of either. */
export const sameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(digest(one), digest(other));

/**
 * Makes what tells whether an `Authorization` header carries the key as a bearer token (RFC 6750). The time it
 * takes tells the key's length and nothing else.
 */
export function createKeyCheck(apiKey: string): (header: string | undefined) => boolean {
  const key = Buffer.from(apiKey);
  return (header) => {
    const token = /^Bearer +(\S+) *$/i.exec(header ?? "")?.[1];
    if (token === undefined) return false;
    const given = Buffer.from(token);
    return given.length === key.length && timingSafeEqual(given, key);
  };
}
