import { createHash, timingSafeEqual } from "node:crypto";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Whether the two are equal, in a time that does not depend on them. */
export const sameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(digest(one), digest(other));

/**
 * Returns a check of `Authorization` headers: whether they carry the key as a bearer token (RFC 6750). Its time
 * depends on the key's length only.
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
