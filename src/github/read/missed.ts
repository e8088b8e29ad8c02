import type { Octokit } from "@octokit/rest";
import { LRUCache } from "lru-cache";
import { createGaps } from "#base/gaps.ts";
import type { Log } from "#base/log.ts";
import { rateLimited } from "#base/network-fault.ts";
import type { PlatformEvent } from "#core/event.ts";
import type { Scope } from "#core/place.ts";
import type { GitHubClient } from "#github/client.ts";
import { faultOf, hasStatus } from "#github/faults.ts";
import { type Repo, readScope } from "#github/place.ts";
import { hook, repository } from "#github/understand/payload.ts";
import type { AskIdentity } from "#github/understand/translate.ts";
import type { Missed } from "#ports.ts";
import { createHookDeliveries, StillMore } from "./hook-deliveries.ts";
import { createKnownRepositories } from "./known-repositories.ts";
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
  /** Milliseconds, monotonic. */
  readonly elapsed: () => number;
  /** The bot's public address; absent: every webhook with the bot's path counts as its own. */
  readonly publicUrl?: string | undefined;
}

/** Overlap of two searches, for deliveries in progress. */
const overlapMs = 15 * 60_000;
/** A repository that could be read again is read back at most this far: people have moved on. */
const longestMs = 3 * 24 * 3_600_000;
/** The searches of a bot that was not away overlap. */
const marginMs = 60 * 60_000;

/** A label has different ids in its delivery and when it is read back. */
const keyOf = (event: PlatformEvent): string =>
  event.kind === "label" ? `${event.place} ${event.label} ${event.at}` : event.id;

/** Merges two lists that are in order. */
const inOrder = (one: readonly PlatformEvent[], other: readonly PlatformEvent[]): readonly PlatformEvent[] =>
  other.length === 0 ? one : [...one, ...other].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));

const webhookPath = "/github/webhooks";

/**
 * Creates `Platform.missed` for GitHub: an App reads its webhook's deliveries, a token those of the repositories'
 * webhooks where it may, and both the comments and labels themselves.
 */
export function createMissed({ client, identity, log, now, elapsed, publicUrl }: MissedOptions) {
  const asked = new LRUCache<string, true>({ max: remembered });
  const heard = new LRUCache<string, true>({ max: remembered });
  const known = createKnownRepositories();
  const gaps = createGaps((scope) => {
    const repo = readScope(scope);
    return repo === null ? scope : `${repo.owner}/${repo.repo}`;
  });
  const missedBy = createHookDeliveries({ identity, log, now, asked });
  /** Ends of rate limits by `elapsed`: of an App's installations by their owners, and of everything else under "". */
  const limitedUntilMs = new Map<string, number>();

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

  /**
   * Returns the repository's missed events, oldest first. `byApp`: those of the App's webhook, else null. A webhook
   * that was off, or an App that was suspended, has no deliveries of that time, so everything is read back too.
   * Returns null if another repository has its name.
   */
  async function missedIn(scope: Scope, repo: Repo, sinceMs: number, byApp: readonly PlatformEvent[] | null) {
    const octokit = await client.in(repo);
    const where = repository.parse((await octokit.rest.repos.get({ ...repo })).data);
    if (!known.isOurs(scope, where)) return null;
    const delivered = byApp ?? (await missedByHooks(octokit, repo, sinceMs));
    const wasHeard = (id: string): boolean => heard.has(id);
    const { items, complete } = await readBack({ octokit, repo, where, sinceMs, identity, wasHeard });
    if (!complete) {
      log.warn("Not all comments and labels of a repository are read back", { ...repo });
      gaps.add(
        scope,
        `More happened in ${repo.owner}/${repo.repo} while the bot was away than is read back.`,
      );
    }
    if (delivered === null) return items;
    const read = new Set(delivered.map(keyOf));
    const others = items.filter((event) => !read.has(keyOf(event)) && !heard.has(keyOf(event)));
    return byApp === null ? inOrder(delivered, others) : others;
  }

  /** Whether another try may succeed: refused credentials may be renewed. */
  const isForNow = (error: unknown): boolean => faultOf(error, now()).retryable;

  /** Returns the events of each repository oldest first. */
  async function look(what: Missed): Promise<readonly PlatformEvent[]> {
    const { since, scopes, keep, tellGaps } = what;
    known.begin(what);
    // A request, unless the identity is known: GitHub's clock is needed, since `since` is by ours.
    await identity();
    const nowMs = now() + client.aheadMs();
    const oldestMs = nowMs - longestMs;
    // Our clock may have been set while the bot was away, so the last search counts, whose time is GitHub's.
    const lastMs = known.searchedMs() ?? Number.POSITIVE_INFINITY;
    const askedMs = Math.min(Date.parse(since) + client.aheadMs(), lastMs - overlapMs);
    if (askedMs < oldestMs - marginMs) {
      const [from, to] = [askedMs, oldestMs].map((ms) => new Date(ms).toISOString());
      gaps.add(
        "old",
        `What happened on GitHub from ${from} to ${to} is not read back: that is too long ago.`,
      );
    }
    const sinceMs = Math.max(askedMs, oldestMs);
    const { asApp } = client;
    const byApp =
      asApp === null ? null : await missedBy({ octokit: asApp, path: "/app/hook/deliveries", sinceMs });
    const events: PlatformEvent[] = [];
    const failures: unknown[] = [];
    let reads = 0;
    const leave = (scope: Scope, fromMs: number, reason: string, isGone: boolean): void => {
      const isNew = known.failed(scope, fromMs, isGone);
      gaps.unreadable(scope, reason);
      log[isNew && !isGone ? "warn" : "debug"]("A repository can't be read", { scope, reason });
    };
    for (const [scope, wantedMs] of known.due(scopes, sinceMs, now())) {
      const repo = readScope(scope);
      if (repo === null) continue;
      const fromMs = Math.max(wantedMs, oldestMs);
      // Each installation of an App has a limit of its own.
      const limiter = asApp === null ? "" : repo.owner;
      if (elapsed() < (limitedUntilMs.get(limiter) ?? 0)) {
        known.failed(scope, fromMs, false);
        gaps.unreadable(scope, rateLimited("GitHub").reason);
        continue;
      }
      try {
        const missed = await missedIn(scope, repo, fromMs, byApp);
        if (missed === null) {
          leave(scope, fromMs, "Another repository has this name, and no webhook has come from it.", false);
          continue;
        }
        events.push(...missed);
        for (const name of known.read(scope)) gaps.read(name);
        reads += 1;
      } catch (error) {
        if (error instanceof StillMore) throw error;
        const { retryAfterMs, retryable, reason } = faultOf(error, now());
        if (retryAfterMs !== undefined) limitedUntilMs.set(limiter, elapsed() + retryAfterMs);
        // Otherwise it was deleted, or the bot has lost its access, perhaps for a time.
        if (retryable) failures.push(error);
        leave(scope, fromMs, reason, hasStatus(error, 404));
      }
    }
    tellGaps?.(gaps.sentences());
    if (reads === 0 && failures.length > 0) throw failures[0];
    keep?.(known.text(nowMs));
    return byApp === null ? events : inOrder(byApp, events);
  }

  return {
    /** Notes the repository of an event that came in a signed webhook. */
    learn: known.learn,

    /** Notes that the event was delivered and taken in. */
    heard(event: PlatformEvent): void {
      for (const key of [event.id, keyOf(event)]) heard.set(key, true);
    },

    /** See `Platform.missed`. Rejects without a request while a rate limit lasts. */
    async missed(what: Missed): Promise<readonly PlatformEvent[]> {
      if (elapsed() < (limitedUntilMs.get("") ?? 0)) throw new Error(rateLimited("GitHub").reason);
      try {
        return await look(what);
      } catch (error) {
        if (error instanceof StillMore) throw error;
        const { reason, retryAfterMs } = faultOf(error, now());
        if (retryAfterMs !== undefined) limitedUntilMs.set("", elapsed() + retryAfterMs);
        throw new Error(reason, { cause: error });
      }
    },
  };
}
