/** The keys in session links. Each run has one secret; the keys in its links are derived from it. */
import { createHmac, randomBytes } from "node:crypto";
import { sameSecret } from "./bearer.ts";

/** The rights that a session link gives: to read, or also to send follow-ups and cancel. */
export type SessionLinks = "read" | "steer";
/** The rights that a key gives. */
export type SessionRight = "none" | SessionLinks;

/** Marks secrets that keys are derived from. Older secrets, which were keys themselves, hold no full stop. */
const derived = "v2.";

/** The secret of a new run. No link contains it. */
export const newSessionKey = (): string => `${derived}${randomBytes(24).toString("base64url")}`;

/**
 * The key for a run's link. An old run's secret was its link's key, so anybody who has such a link could derive
 * other keys from it: such a run has no key to steer.
 */
export function linkKey(secret: string, links: SessionLinks): string {
  if (!secret.startsWith(derived)) return secret;
  return createHmac("sha256", secret).update(`session ${links}`).digest("base64url");
}

/**
 * The key of one download of the run until `until`, in milliseconds since the epoch. `what` names the download; the
 * key opens nothing else.
 */
export const downloadKey = (secret: string, what: string, until: number): string =>
  `${until}.${createHmac("sha256", secret).update(`download ${until} ${what}`).digest("base64url")}`;

/** Whether `key` opens the download at `now`. Takes a time that does not depend on the secret. */
export function opens(secret: string, key: string, what: string, now: number): boolean {
  const until = Number(/^\d{1,15}(?=\.)/.exec(key)?.[0] ?? 0);
  return sameSecret(key, downloadKey(secret, what, until)) && now < until;
}

/** The rights that `key` gives where links allow `links`. Takes a time that does not depend on the secret. */
export function rightOf(secret: string, key: string, links: SessionLinks): SessionRight {
  const reads = sameSecret(key, linkKey(secret, "read"));
  const steers = secret.startsWith(derived) && sameSecret(key, linkKey(secret, "steer"));
  if (steers) return links;
  return reads ? "read" : "none";
}
