/** The shapes of GitHub's sending side. */
import type { Log } from "#base/log.ts";
import type { MovedEvent } from "#core/event.ts";
import type { GitHubAuth } from "#github/client.ts";
import type { Intake } from "#github/receive/receive.ts";
import type { AskIdentity } from "#github/understand/translate.ts";
import type { Accept, Platform } from "#ports.ts";

/** Options of `createGitHubPlatform`. */
export interface GitHubPlatformOptions {
  readonly auth: GitHubAuth;
  /** The API's base URL; GitHub.com's if absent. */
  readonly apiUrl?: string;
  readonly log: Log;
  /** Saves that an issue was found at another address; absent: nobody wants to know. */
  readonly accept?: Accept<MovedEvent>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds, monotonic. */
  readonly elapsed: () => number;
  /** How long a person's permission is remembered; 5 minutes. */
  readonly permissionTtlMs?: number;
  /** A request without an answer is given up after this, and its outcome is unknown; 20 seconds. */
  readonly requestTimeoutMs?: number;
  /** The bot's public address, by which its webhooks are recognised. */
  readonly publicUrl?: string;
  /** The `fetch` that makes the requests; the platform's own if absent. */
  readonly fetch?: typeof fetch;
}

/** GitHub's sending side, with the parts that the receiver uses. */
export interface GitHubPlatform extends Platform {
  /** The bot's identity, for the receiver. */
  readonly identity: AskIdentity;
  readonly intake: Intake;
  readonly missed: NonNullable<Platform["missed"]>;
}
