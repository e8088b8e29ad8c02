import { createHash, timingSafeEqual } from "node:crypto";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Whether the two are the same, in a time that tells nothing of either. */
export const sameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(digest(one), digest(other));

/** Whether the `Authorization` header carries the key as a bearer token (RFC 6750). */
export function isAuthorized(header: string | undefined, apiKey: string): boolean {
  const token = /^Bearer +(\S+) *$/i.exec(header ?? "")?.[1];
  return token !== undefined && sameSecret(token, apiKey);
}
