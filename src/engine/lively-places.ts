import type { createKeyedQueue } from "#base/keyed-queue.ts";
import { type Place, platformOf } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import type { Timers } from "#engine/base/timers.ts";
import type { Clock, Notes } from "#ports.ts";

/** Places remembered per platform; older ones are forgotten first. */
const mostPlaces = 2_000;
/** New places are saved after this, many at once. */
const saveAfterMs = 15_000;

/** The places of a platform where something happened in the last days, even if their runs have ended. */
export interface LivelyPlaces {
  /** Notes the saved thread's places. */
  onSaved(thread: Thread): void;
  /** Resolves with the places, the most recent first. Rejects like the store. */
  list(): Promise<readonly Place[]>;
  /** Resolves when everything noted so far is durable. Rejects like the store. */
  keep(): Promise<void>;
}

/** Creates the platform's lively places, which a note makes durable. */
export function createLivelyPlaces(options: {
  readonly platform: string;
  readonly notes: Notes;
  /** Writes notes one after another. */
  readonly noteQueue: ReturnType<typeof createKeyedQueue>;
  readonly timers: Timers;
  readonly clock: Clock;
  /** A place without a sign of life for this long is not lively. */
  readonly livelyMs: number;
  /** Called with the error of a write that a new place caused. */
  readonly onFailure: (error: unknown) => void;
}): LivelyPlaces {
  const { platform, notes, noteQueue, timers, clock, livelyMs, onFailure } = options;
  const note = `lively-${platform}`;
  /** Times of the latest sign of life, in milliseconds since the epoch. */
  const signs = new Map<Place, number>();
  let isLoaded = false;
  let isWaiting = false;
  let isSaved = true;

  const noteSign = (place: Place, at: number): void =>
    void signs.set(place, Math.max(at, signs.get(place) ?? 0));

  async function load(): Promise<void> {
    if (isLoaded) return;
    for (const line of (await notes.note(note))?.split("\n") ?? []) {
      const [place = "", at] = line.split(" ");
      if (platformOf(place) === platform && Number.isFinite(Number(at))) noteSign(place, Number(at));
    }
    isLoaded = true;
  }

  const byTime = (): readonly (readonly [Place, number])[] =>
    [...signs].sort(([, one], [, other]) => other - one).slice(0, mostPlaces);

  const keep = (): Promise<void> =>
    noteQueue.run(note, async () => {
      if (isSaved) return;
      await load();
      const kept = byTime();
      isSaved = true;
      try {
        await notes.keepNote(note, kept.map(([place, at]) => `${place} ${at}`).join("\n"));
      } catch (error) {
        isSaved = false;
        throw error;
      }
      if (signs.size > mostPlaces) {
        signs.clear();
        for (const [place, at] of kept) noteSign(place, at);
      }
    });

  return {
    onSaved({ places, changedAt }) {
      for (const place of places) {
        if (platformOf(place) !== platform) continue;
        const isNew = !signs.has(place);
        noteSign(place, Date.parse(changedAt));
        isSaved = false;
        if (!isNew || isWaiting) continue;
        isWaiting = true;
        timers.after(saveAfterMs, () => {
          isWaiting = false;
          keep().catch(onFailure);
        });
      }
    },
    async list() {
      await load();
      const sinceMs = clock.now() - livelyMs;
      return byTime().flatMap(([place, at]) => (at >= sinceMs ? [place] : []));
    },
    keep,
  };
}
