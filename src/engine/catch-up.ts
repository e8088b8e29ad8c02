/** Recovers events that the bot missed while it was not listening. */
import { backoffMs } from "#base/backoff.ts";
import { createInFlight } from "#base/in-flight.ts";
import { createKeyedQueue } from "#base/keyed-queue.ts";
import type { Log } from "#base/log.ts";
import { messageOf, reasonOf } from "#base/reason.ts";
import { type PlatformEvent, refOf } from "#core/event.ts";
import { type Place, platformOf, type Ref, type Scope } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import type { Timers } from "#engine/base/timers.ts";
import type { Clock, Notes, Platform } from "#ports.ts";
import type { Accepting } from "./accept.ts";
import { createLivelyPlaces } from "./lively-places.ts";

/** Overlap of two searches, for deliveries in progress and for clocks that differ. */
const overlapMs = 15 * 60_000;
/** Two machines on which the bot runs one after the other. */
const clocksDifferMs = 60_000;
/** How long the bot is taken to have been away if its clock was set back by an unknown time. */
const unknownAwayMs = 3 * 24 * 3_600_000;
const failureFirstMs = 10_000;
const defaultLivelyMs = 7 * 24 * 3_600_000;

/** Searches the platforms for missed events, at the start and at intervals. */
export interface CatchUp {
  /** Updates the places to search from a saved thread. */
  onSaved(thread: Thread): void;
  /** Resolves when all later searches, of later processes too, include the scope. Rejects like the store. */
  keepScope(scope: Scope): Promise<void>;
  /** Starts searching. Resolves when what the last process could not read back is known. */
  open(): Promise<void>;
  /** Starts no further search; resolves when those under way have ended. */
  close(): Promise<void>;
  /** What can't be read back, in sentences, by the platform's name; platforms without gaps are left out. */
  gaps(): ReadonlyMap<string, readonly string[]>;
}

/** Searches the platforms that have `missed`, every `intervalMs`. */
export function createCatchUp(options: {
  readonly platforms: readonly Platform[];
  readonly notes: Notes;
  readonly save: Accepting["take"];
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Log;
  readonly intervalMs: number;
  /** Replies are searched for in places with a sign of life within this time, in milliseconds; 7 days if absent. */
  readonly livelyMs?: number;
}): CatchUp {
  const { platforms, notes, save, timers, clock, log, intervalMs, livelyMs = defaultLivelyMs } = options;
  const searches = createInFlight();
  const followed = new Set(platforms.filter(({ missed }) => missed).map(({ name }) => name));
  /** The saved scopes, by the platform's name. */
  const scopes = new Map<string, Set<Scope>>();
  const noteQueue = createKeyedQueue();
  const lively = new Map(
    [...followed].map((platform) => {
      const onFailure = (error: unknown): void =>
        log.warn("The lively places could not be saved", { platform, reason: reasonOf(error) });
      const parts = { platform, notes, noteQueue, timers, clock, livelyMs, onFailure };
      return [platform, createLivelyPlaces(parts)] as const;
    }),
  );
  /** Events that could not be saved, which is logged once. */
  const refused = new Set<string>();
  const gaps = new Map<string, readonly string[]>();
  /** Why the last search failed, by the platform's name. */
  const failing = new Map<string, string>();
  /** Places of the threads with an unfinished run. */
  const unfinished = new Map<Ref, readonly Place[]>();
  let open = false;
  let closed = false;

  /** Returns the platform's saved scopes. */
  async function scopesOf(name: string): Promise<Set<Scope>> {
    const known = scopes.get(name) ?? new Set<Scope>();
    scopes.set(name, known);
    for (const scope of (await notes.note(`scopes-${name}`))?.split("\n") ?? []) if (scope) known.add(scope);
    return known;
  }

  /**
   * Saves the events, except the later ones of a place with one that another search may save: they keep their order.
   * Resolves with those that came before their threads were saved. Rejects if another search may help.
   */
  async function saveAll(events: readonly PlatformEvent[]): Promise<readonly PlatformEvent[]> {
    const early: PlatformEvent[] = [];
    let failed: unknown = null;
    const held = new Set<Ref>();
    for (const event of events) {
      const ref = refOf(event);
      if (held.has(ref)) continue;
      try {
        const { answer } = await save(event);
        refused.delete(event.id);
        if (answer === "again") early.push(event);
      } catch (error) {
        if (!refused.has(event.id)) {
          log.error("A missed event could not be saved", { event: event.id, reason: reasonOf(error) });
        }
        refused.add(event.id);
        // An unreadable thread stays unreadable, which must not stop the search.
        if (error instanceof Error && error.name === "ThreadUnreadable") continue;
        failed = error;
        held.add(ref);
      }
    }
    if (failed !== null) throw failed;
    return early;
  }

  /** Gaps are saved, so that the greeting of the next start can name them. */
  async function keepGaps(name: string, missing: readonly string[]): Promise<void> {
    const text = missing.join("\n");
    if (text === (gaps.get(name) ?? []).join("\n")) return;
    await notes.keepNote(`gaps-${name}`, text);
    gaps.set(name, missing);
  }

  async function loadGaps(name: string): Promise<void> {
    try {
      const text = (await notes.note(`gaps-${name}`)) ?? "";
      if (text !== "") gaps.set(name, text.split("\n"));
    } catch (error) {
      log.warn("What could not be read back before is not known", {
        platform: name,
        reason: reasonOf(error),
      });
    }
  }

  /** Resolves with the time until the next search. */
  async function search(platform: Platform): Promise<number> {
    const { name } = platform;
    let waitMs = intervalMs;
    const began = clock.now();
    const known = await scopesOf(name);
    const heardUntil = Date.parse((await notes.note(`heard-until-${name}`)) ?? "");
    // Nothing was missed before the very first start. Its search has the platform note its own time, since ours may be
    // set while the bot is away; if it fails, the next one counts from here all the same.
    const isFirst = Number.isNaN(heardUntil);
    if (isFirst) await notes.keepNote(`heard-until-${name}`, new Date(began).toISOString());
    const kept = isFirst ? began : heardUntil;
    // A time ahead of ours: the clock was set back since, by an unknown time.
    const sinceMs = kept - began > clocksDifferMs ? began - unknownAwayMs : Math.min(kept, began) - overlapMs;
    const since = new Date(sinceMs).toISOString();
    const places = [...unfinished.values()].flat().filter((place) => platformOf(place) === name);
    const text = await notes.note(`kept-${name}`);
    let next: string | null = null;
    let told: readonly string[] | null = null;
    let nextWithout: ((events: readonly PlatformEvent[]) => string) | undefined;
    const events = await platform.missed?.({
      since,
      places,
      lively: (await lively.get(name)?.list()) ?? [],
      scopes: [...known],
      kept: text,
      keep(newer, moreInMs = intervalMs, without) {
        next = newer;
        nextWithout = without;
        waitMs = Math.min(intervalMs, moreInMs);
      },
      tellGaps(sentences) {
        told = sentences;
      },
    });
    const early = await saveAll(isFirst ? [] : (events ?? []));
    if (early.length > 0) {
      if (nextWithout === undefined) throw new Error("A missed event came before its thread was saved.");
      next = nextWithout(early);
    }
    if (next !== null && next !== text) await notes.keepNote(`kept-${name}`, next);
    if (told !== null) await keepGaps(name, told);
    await lively.get(name)?.keep();
    // Saved last, so that an interrupted search is repeated.
    await notes.keepNote(`heard-until-${name}`, new Date(began).toISOString());
    return waitMs;
  }

  function follow(platform: Platform): void {
    let failures = 0;
    const again = async (): Promise<void> => {
      let waitMs = intervalMs;
      try {
        waitMs = await search(platform);
        if (failures > 0) log.info("Missed events can be recovered again", { platform: platform.name });
        failures = 0;
        failing.delete(platform.name);
      } catch (error) {
        failures += 1;
        const reason = reasonOf(error);
        const why = messageOf(error);
        failing.set(platform.name, `What happened while the bot was away can't be read back now. ${why}`);
        if (failures === 1) {
          log.warn("Missed events can't be recovered for now", { platform: platform.name, reason });
        }
      }
      if (failures > 0) waitMs = backoffMs(failures, failureFirstMs, intervalMs, clock.random());
      if (open) timers.after(waitMs, () => void searches.track(again()));
    };
    void searches.track(again());
  }

  return {
    onSaved(thread) {
      const { id, runs, places } = thread;
      for (const places of lively.values()) places.onSaved(thread);
      if (runs.some((run) => run.open)) unfinished.set(id, places);
      else unfinished.delete(id);
    },
    async keepScope(scope) {
      const name = platformOf(scope);
      if (!followed.has(name) || scopes.get(name)?.has(scope)) return;
      await noteQueue.run(name, async () => {
        const known = await scopesOf(name);
        if (known.has(scope)) return;
        await notes.keepNote(`scopes-${name}`, [...known, scope].join("\n"));
        known.add(scope);
      });
    },
    async open() {
      await Promise.all([...followed].map(loadGaps));
      if (closed) return;
      open = true;
      for (const platform of platforms) if (platform.missed) follow(platform);
    },
    async close() {
      closed = true;
      open = false;
      await searches.idle();
      await Promise.allSettled([...lively.values()].map((places) => places.keep()));
    },
    gaps() {
      const named = [...followed].map(
        (name) =>
          [
            name,
            [...(failing.has(name) ? [failing.get(name) ?? ""] : []), ...(gaps.get(name) ?? [])],
          ] as const,
      );
      return new Map(named.filter(([, sentences]) => sentences.length > 0));
    },
  };
}
