/**
 * Tells the bot's repositories from others that got their former names, and remembers where the bot has still to read.
 */
import { z } from "zod";
import type { Log } from "#base/log.ts";
import type { PlatformEvent } from "#core/event.ts";
import type { Scope } from "#core/place.ts";
import { readPlace, scopeOf } from "#github/place.ts";
import type { RepositoryPayload } from "#github/understand/payload.ts";
import type { Missed } from "#ports.ts";

/**
 * The text that is kept: each scope's repository, since when it is unread, and when the last search began by GitHub's
 * clock, in milliseconds since the epoch.
 */
const keptText = z.object({
  ids: z.record(z.string(), z.number()),
  unread: z.record(z.string(), z.number()),
  searchedMs: z.number().optional(),
});

/** A repository without a sign of life in the last days is read so often: each reading costs up to four requests. */
const quietMs = 3_600_000;

function read(text: string | null | undefined): z.infer<typeof keptText> | null {
  try {
    return keptText.parse(JSON.parse(text ?? ""));
  } catch {
    return null;
  }
}

/** Creates the memory. */
export function createKnownRepositories(log: Log) {
  /** Ids from signed webhooks, from earlier searches or, for a scope without any, from its first search. */
  const ids = new Map<Scope, number>();
  const unread = new Map<Scope, number>();
  let ofPlaces: ReadonlySet<number> = new Set();
  /** Scopes of places that were saved under names. */
  let named: ReadonlySet<Scope> = new Set();
  /** Whether the engine tells where something happened in the last days. */
  let hasSigns = false;
  const readAt = new Map<Scope, number>();
  /** Quiet repositories that are unread only because it is not their time. */
  const resting = new Set<Scope>();
  const logged = new Set<Scope>();
  const gone = new Set<Scope>();
  let searchedMs: number | undefined;

  return {
    /** Scopes of repositories that GitHub does not find: they are tried hourly. */
    gone,

    /** Since when each repository that could not be read is unread; milliseconds since the epoch. */
    unread,

    /** Notes the repository of an event that came in a signed webhook. */
    learn({ place, scope }: PlatformEvent): void {
      const id = place === null ? null : readPlace(place)?.repository;
      if (typeof id === "number") ids.set(scope, id);
    },

    /** Returns when the last saved search began, by GitHub's clock; undefined: unknown. */
    searchedMs: (): number | undefined => searchedMs,

    /** Begins a search with the text and the places of the engine. */
    begin({ kept, places, lively }: Missed): void {
      const saved = read(kept);
      ({ searchedMs } = saved ?? {});
      for (const [scope, id] of Object.entries(saved?.ids ?? {})) if (!ids.has(scope)) ids.set(scope, id);
      for (const [scope, sinceMs] of Object.entries(saved?.unread ?? {})) {
        unread.set(scope, Math.min(sinceMs, unread.get(scope) ?? sinceMs));
      }
      const known = [...places, ...(lively ?? [])].flatMap((place) => readPlace(place)?.repository ?? []);
      ofPlaces = new Set(known.filter((id) => typeof id === "number"));
      named = new Set(
        known.flatMap((one) => (typeof one === "number" ? [] : scopeOf(`${one.owner}/${one.repo}`))),
      );
      hasSigns = lively !== undefined;
    },

    /** Yields the scopes to read now; the others stay unread since then. Times in milliseconds since the epoch. */
    *due(scopes: readonly Scope[], sinceMs: number, nowMs: number): Generator<Scope> {
      // A repository that was renamed is read under its last name.
      for (const scope of new Map(scopes.map((each) => [ids.get(each) ?? each, each])).values()) {
        const id = ids.get(scope);
        const isQuiet = hasSigns && id !== undefined && !ofPlaces.has(id) && !named.has(scope);
        const ageMs = nowMs - (readAt.get(scope) ?? Number.NEGATIVE_INFINITY);
        const wasRead = ageMs >= 0 && ageMs < quietMs && (!unread.has(scope) || resting.has(scope));
        if (gone.has(scope) && ageMs >= 0 && ageMs < quietMs) continue;
        if (isQuiet && wasRead) {
          resting.add(scope);
          unread.set(scope, Math.min(sinceMs, unread.get(scope) ?? sinceMs));
        } else {
          resting.delete(scope);
          readAt.set(scope, nowMs);
          yield scope;
        }
      }
    },

    /** Returns whether the repository with the scope's name is one of the bot's; it is if none is known by the name. */
    isOurs(scope: Scope, { id }: RepositoryPayload): boolean {
      if (!id) return true;
      const isKnown = !ids.has(scope) || ofPlaces.has(id) || [...ids.values()].includes(id);
      if (isKnown) {
        ids.set(scope, id);
        logged.delete(scope);
      } else if (!logged.has(scope)) {
        logged.add(scope);
        log.warn("Another repository has this name now and is not read back until a webhook comes from it", {
          scope,
          id,
        });
      }
      return isKnown;
    },

    /** Returns the text to keep of a search that began then. */
    text: (beganMs: number): string =>
      JSON.stringify({
        ids: Object.fromEntries(ids),
        unread: Object.fromEntries(unread),
        searchedMs: beganMs,
      } satisfies z.input<typeof keptText>),
  };
}
