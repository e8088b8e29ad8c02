/** What the key in a session link opens. One secret a run; the keys in its links are derived from it. */
import { createHmac, randomBytes } from "node:crypto";
import { sameSecret } from "./bearer.ts";

/** What links to a run's page allow whoever has them. */
export type SessionLinks = "read" | "steer";
export type SessionRight = "none" | SessionLinks;

/** No key of the first kind, which was in links itself, holds a full stop. */
const derived = "v2.";

/** The secret of a new run. It is in no link. */
export const newSessionKey = (): string => `${derived}${randomBytes(24).toString("base64url")}`;

/**
 * The key for a run's link. The secret of an old run was in its links itself, to read: who has seen one could
 * derive anything from it, so such a run has no key to steer.
 */
export function linkKey(secret: string, links: SessionLinks): string {
  if (!secret.startsWith(derived)) return secret;
  return createHmac("sha256", secret).update(`session ${links}`).digest("base64url");
}

/** What `key` opens where links allow no more than `links`; takes a time that tells nothing of the secret. */
export function rightOf(secret: string, key: string, links: SessionLinks): SessionRight {
  const reads = sameSecret(key, linkKey(secret, "read"));
  const steers = secret.startsWith(derived) && sameSecret(key, linkKey(secret, "steer"));
  if (steers) return links;
  return reads ? "read" : "none";
}
