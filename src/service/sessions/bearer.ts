import { createHash, timingSafeEqual } from "node:crypto";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Whether two texts are equal. The time of the comparison does not reveal where they differ. */
export const sameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(digest(one), digest(other));

/** Whether the `Authorization` header has the key as its bearer token (RFC 6750). */
export function hasKey(header: string | undefined, apiKey: string): boolean {
  const token = /^Bearer +(\S+) *$/i.exec(header ?? "")?.[1];
  return token !== undefined && sameSecret(token, apiKey);
}
