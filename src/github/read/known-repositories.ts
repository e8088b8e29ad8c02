/**
 * Tells the bot's repositories from others that got their former names, and remembers where the bot has still to read.
 */
import { z } from "zod";
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

/** A repository of the bot's. */
interface Known {
  /** From signed webhooks, from earlier searches or, without any, from its first search. */
  id?: number;
  /** When it was last read or tried, by this machine's clock, in milliseconds since the epoch. */
  triedMs?: number;
  /** Since when it is unread, in milliseconds since the epoch. */
  unreadMs?: number;
  /** Why it is unread: it is not its time, or GitHub does not find it, which is tried hourly; absent: another failure. */
  waits?: "quiet" | "gone";
}

/** Creates the memory. */
export function createKnownRepositories() {
  const repositories = new Map<Scope, Known>();
  let ofPlaces: ReadonlySet<number> = new Set();
  /** Scopes of places that were saved under names. */
  let named: ReadonlySet<Scope> = new Set();
  /** Whether the engine tells where something happened in the last days. */
  let hasSigns = false;
  let searchedMs: number | undefined;

  const at = (scope: Scope): Known => {
    const known = repositories.get(scope) ?? {};
    repositories.set(scope, known);
    return known;
  };

  /** Returns what is known under the present and the former names of the scope's repository. */
  const allNames = (scope: Scope): readonly (readonly [Scope, Known])[] => {
    const known = at(scope);
    const isSame = ([name, { id }]: readonly [Scope, Known]): boolean =>
      name === scope || (id !== undefined && id === known.id);
    return [...repositories].filter(isSame);
  };

  const leaveUnread = (known: Known, sinceMs: number): void => {
    known.unreadMs = Math.min(sinceMs, known.unreadMs ?? sinceMs);
  };

  return {
    /** Notes the repository of an event that came in a signed webhook. */
    learn({ place, scope }: PlatformEvent): void {
      const id = place === null ? null : readPlace(place)?.repository;
      if (typeof id === "number") at(scope).id = id;
    },

    /** Returns when the last saved search began, by GitHub's clock; undefined: unknown. */
    searchedMs: (): number | undefined => searchedMs,

    /** Begins a search with the text and the places of the engine. */
    begin({ kept, places, lively }: Missed): void {
      const saved = read(kept);
      ({ searchedMs } = saved ?? {});
      for (const [scope, id] of Object.entries(saved?.ids ?? {})) at(scope).id ??= id;
      for (const [scope, sinceMs] of Object.entries(saved?.unread ?? {})) leaveUnread(at(scope), sinceMs);
      const known = [...places, ...(lively ?? [])].flatMap((place) => readPlace(place)?.repository ?? []);
      ofPlaces = new Set(known.filter((id) => typeof id === "number"));
      named = new Set(
        known.flatMap((one) => (typeof one === "number" ? [] : scopeOf(`${one.owner}/${one.repo}`))),
      );
      hasSigns = lively !== undefined;
    },

    /**
     * Yields the scopes to read now, each with the time since when; the others stay unread. Times in milliseconds
     * since the epoch.
     */
    *due(scopes: readonly Scope[], sinceMs: number, nowMs: number): Generator<readonly [Scope, number]> {
      // A repository that was renamed is read under its last name.
      for (const scope of new Map(scopes.map((each) => [at(each).id ?? each, each])).values()) {
        const known = at(scope);
        const { id, waits } = known;
        const isQuiet = hasSigns && id !== undefined && !ofPlaces.has(id) && !named.has(scope);
        const ageMs = nowMs - (known.triedMs ?? Number.NEGATIVE_INFINITY);
        const wasTried = ageMs >= 0 && ageMs < quietMs;
        if (wasTried && waits === "gone") continue;
        if (wasTried && isQuiet && (known.unreadMs === undefined || waits === "quiet")) {
          known.waits = "quiet";
          leaveUnread(known, sinceMs);
        } else {
          known.triedMs = nowMs;
          yield [scope, Math.min(sinceMs, ...allNames(scope).map(([, { unreadMs = sinceMs }]) => unreadMs))];
        }
      }
    },

    /** Notes that the repository was read; returns its names. */
    read(scope: Scope): readonly Scope[] {
      return allNames(scope).map(([name, known]) => {
        delete known.unreadMs;
        delete known.waits;
        return name;
      });
    },

    /** Notes that it can't be read, and whether GitHub does not find it; returns whether that is new. */
    failed(scope: Scope, sinceMs: number, isGone: boolean): boolean {
      const known = at(scope);
      const isNew = known.unreadMs === undefined || known.waits === "quiet";
      known.unreadMs = sinceMs;
      delete known.waits;
      if (isGone) known.waits = "gone";
      return isNew;
    },

    /** Returns whether the repository with the scope's name is one of the bot's; it is if none is known by the name. */
    isOurs(scope: Scope, { id }: RepositoryPayload): boolean {
      if (!id) return true;
      const known = at(scope);
      const isOurs =
        known.id === undefined ||
        ofPlaces.has(id) ||
        [...repositories.values()].some((other) => other.id === id);
      if (isOurs) known.id = id;
      return isOurs;
    },

    /** Returns the text to keep of a search that began then. */
    text(beganMs: number): string {
      const of = (field: "id" | "unreadMs"): Record<Scope, number> =>
        Object.fromEntries(
          [...repositories].flatMap(([scope, { [field]: value }]) =>
            value === undefined ? [] : [[scope, value]],
          ),
        );
      return JSON.stringify({
        ids: of("id"),
        unread: of("unreadMs"),
        searchedMs: beganMs,
      } satisfies z.input<typeof keptText>);
    },
  };
}
