/** What GitHub told in vain, by the best way that the credentials allow. */
import type { Octokit } from "@octokit/rest";
import { LRUCache } from "lru-cache";
import type { Log } from "#base/log.ts";
import type { PersonEvent } from "#core/event.ts";
import type { GitHubClient } from "#github/client.ts";
import { faultOf, hasStatus } from "#github/faults.ts";
import { type Repo, readScope } from "#github/place.ts";
import type { AskIdentity } from "#github/understand/identity.ts";
import { hook } from "#github/understand/payload.ts";
import type { Missed } from "#ports.ts";
import { createHookDeliveries, StillMore } from "./hook-deliveries.ts";
import { readBack } from "./read-back.ts";

const remembered = 20_000;

export interface MissedOptions {
  readonly client: GitHubClient;
  readonly identity: AskIdentity;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Where the world reaches the bot; absent: whatever webhook has our path is taken for ours. */
  readonly publicUrl?: string | undefined;
}

const webhookPath = "/github/webhooks";

export function createMissed({ client, identity, log, now, publicUrl }: MissedOptions) {
  const asked = new LRUCache<string, true>({ max: remembered });
  const heard = new LRUCache<string, true>({ max: remembered });
  const missedBy = createHookDeliveries({ identity, log, now, asked });
  let limitedUntilMs = 0;

  const isOurs = (url: string): boolean =>
    publicUrl === undefined
      ? new URL(url).pathname.endsWith(webhookPath)
      : url.toLowerCase() === `${publicUrl.replace(/\/+$/, "")}${webhookPath}`.toLowerCase();

  /** Ids of our webhooks there; none also where the token may not see them. */
  async function hooksIn(octokit: Octokit, repo: Repo): Promise<readonly number[]> {
    const { data } = await octokit.rest.repos.listWebhooks({ ...repo, per_page: 100 });
    return data.flatMap((item) => {
      const { data: one } = hook.safeParse(item);
      const url = one?.config.url ?? "";
      return one?.active && URL.canParse(url) && isOurs(url) ? [one.id] : [];
    });
  }

  /** null: nobody lets us see what was delivered there. */
  async function missedByHooks(octokit: Octokit, repo: Repo, sinceMs: number): Promise<PersonEvent[] | null> {
    try {
      const events: PersonEvent[] = [];
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

  async function missedIn(repo: Repo, sinceMs: number): Promise<readonly PersonEvent[]> {
    const octokit = await client.in(repo);
    const delivered = await missedByHooks(octokit, repo, sinceMs);
    if (delivered !== null) return delivered;
    const wasHeard = (id: string): boolean => heard.has(id);
    const { events, complete } = await readBack({ octokit, repo, sinceMs, identity, wasHeard });
    if (!complete) log.warn("More has happened in the repository than is read back", { ...repo });
    return events;
  }

  /** Whether it may go better later; credentials that are refused may be renewed. */
  const isForNow = (error: unknown): boolean => hasStatus(error, 401) || faultOf(error, now()).retryable;

  /** Oldest first in each repository; no thread spans two. */
  async function look({ since, scopes }: Missed): Promise<readonly PersonEvent[]> {
    const sinceMs = Date.parse(since);
    if (client.asApp !== null) {
      return missedBy({ octokit: client.asApp, path: "/app/hook/deliveries", sinceMs });
    }
    const events: PersonEvent[] = [];
    for (const scope of scopes) {
      const repo = readScope(scope);
      if (repo === null) continue;
      try {
        events.push(...(await missedIn(repo, sinceMs)));
      } catch (error) {
        if (error instanceof StillMore || isForNow(error)) throw error;
        // Deleted, or taken away from us: what is said there is no more ours to know.
        log.debug("a repository can't be looked through", { scope, reason: faultOf(error, now()).reason });
      }
    }
    return events;
  }

  return {
    /** The event with this id was delivered and dealt with. */
    heard: (eventId: string): void => void heard.set(eventId, true),

    /** See `Platform.missed`. While GitHub limits us it is not even asked. */
    async missed(what: Missed): Promise<readonly PersonEvent[]> {
      if (now() < limitedUntilMs) throw new Error("GitHub limits how much the bot may do at the moment.");
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
