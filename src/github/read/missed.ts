import type { Octokit } from "@octokit/rest";
import { LRUCache } from "lru-cache";
import type { Log } from "#base/log.ts";
import { rateLimited } from "#base/network-fault.ts";
import type { PlatformEvent } from "#core/event.ts";
import type { GitHubClient } from "#github/client.ts";
import { faultOf } from "#github/faults.ts";
import { type Repo, readScope } from "#github/place.ts";
import { hook } from "#github/understand/payload.ts";
import type { AskIdentity } from "#github/understand/translate.ts";
import type { Missed } from "#ports.ts";
import { createHookDeliveries, StillMore } from "./hook-deliveries.ts";
import { readBack } from "./read-back.ts";

/** Remembered ids of deliveries and of events: each delivery is repeated and each event read back only once. */
const remembered = 20_000;

/** Options of `createMissed`. */
export interface MissedOptions {
  readonly client: GitHubClient;
  readonly identity: AskIdentity;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The bot's public address; absent: every webhook with the bot's path counts as its own. */
  readonly publicUrl?: string | undefined;
}

const webhookPath = "/github/webhooks";

/**
 * Creates `Platform.missed` for GitHub: an App reads its webhook's deliveries, a token those of the repositories'
 * webhooks where it may, and elsewhere the comments and labels themselves.
 */
export function createMissed({ client, identity, log, now, publicUrl }: MissedOptions) {
  const asked = new LRUCache<string, true>({ max: remembered });
  const heard = new LRUCache<string, true>({ max: remembered });
  const missedBy = createHookDeliveries({ identity, log, now, asked });
  let limitedUntilMs = 0;

  const isOurs = (url: string): boolean =>
    publicUrl === undefined
      ? new URL(url).pathname.endsWith(webhookPath)
      : url.toLowerCase() === `${publicUrl.replace(/\/+$/, "")}${webhookPath}`.toLowerCase();

  /** Returns the ids of the bot's webhooks in the repository. */
  async function hooksIn(octokit: Octokit, repo: Repo): Promise<readonly number[]> {
    const { data } = await octokit.rest.repos.listWebhooks({ ...repo, per_page: 100 });
    return data.flatMap((item) => {
      const { data: one } = hook.safeParse(item);
      const url = one?.config.url ?? "";
      return one?.active && URL.canParse(url) && isOurs(url) ? [one.id] : [];
    });
  }

  /** Returns null if the token may not see the deliveries there, or there is no webhook. */
  async function missedByHooks(
    octokit: Octokit,
    repo: Repo,
    sinceMs: number,
  ): Promise<PlatformEvent[] | null> {
    try {
      const events: PlatformEvent[] = [];
      const ids = await hooksIn(octokit, repo);
      for (const id of ids) {
        const path = `/repos/${repo.owner}/${repo.repo}/hooks/${id}/deliveries`;
        events.push(...(await missedBy({ octokit, path, sinceMs })));
      }
      return ids.length === 0 ? null : events;
    } catch (error) {
      if (error instanceof StillMore || isForNow(error)) throw error;
      return null;
    }
  }

  async function missedIn(repo: Repo, sinceMs: number): Promise<readonly PlatformEvent[]> {
    const octokit = await client.in(repo);
    const delivered = await missedByHooks(octokit, repo, sinceMs);
    if (delivered !== null) return delivered;
    const wasHeard = (id: string): boolean => heard.has(id);
    const { items, complete } = await readBack({ octokit, repo, sinceMs, identity, wasHeard });
    if (!complete) log.warn("Not all comments and labels of a repository are read back", { ...repo });
    return items;
  }

  /** Whether another try may succeed: refused credentials may be renewed. */
  const isForNow = (error: unknown): boolean => faultOf(error, now()).retryable;

  /** Returns the events of each repository oldest first; no thread spans two repositories. */
  async function look({ since, scopes }: Missed): Promise<readonly PlatformEvent[]> {
    const sinceMs = Date.parse(since);
    if (client.asApp !== null) {
      return missedBy({ octokit: client.asApp, path: "/app/hook/deliveries", sinceMs });
    }
    const events: PlatformEvent[] = [];
    for (const scope of scopes) {
      const repo = readScope(scope);
      if (repo === null) continue;
      try {
        events.push(...(await missedIn(repo, sinceMs)));
      } catch (error) {
        if (error instanceof StillMore || isForNow(error)) throw error;
        // The repository was deleted, or the bot has lost its access.
        log.debug("A repository can't be read", { scope, reason: faultOf(error, now()).reason });
      }
    }
    return events;
  }

  return {
    /** Notes that the event with this id was delivered and taken in. */
    heard: (eventId: string): void => void heard.set(eventId, true),

    /** See `Platform.missed`. Rejects without a request while a rate limit lasts. */
    async missed(what: Missed): Promise<readonly PlatformEvent[]> {
      if (now() < limitedUntilMs) throw new Error(rateLimited("GitHub").reason);
      try {
        return await look(what);
      } catch (error) {
        if (error instanceof StillMore) throw error;
        const { reason, retryAfterMs } = faultOf(error, now());
        if (retryAfterMs !== undefined) limitedUntilMs = now() + retryAfterMs;
        throw new Error(reason, { cause: error });
      }
    },
  };
}
