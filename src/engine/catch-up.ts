/** What the platforms told us while nobody listened: asked for at the start, and every few minutes. */

import type { Log } from "#base/log.ts";
import type { PersonEvent } from "#core/event.ts";
import { type Place, platformOf, type Ref, type Scope } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import { backoffMs } from "#engine/base/backoff.ts";
import { createInFlight } from "#engine/base/in-flight.ts";
import { reasonOf } from "#engine/base/reason.ts";
import type { Timers } from "#engine/base/timers.ts";
import type { Clock, Notes, Platform } from "#ports.ts";

/** So far one look goes back behind the last one: deliveries under way then, and clocks that differ. */
const overlapMs = 5 * 60_000;
/** Platforms forget deliveries, and people have moved on, after so long. */
const longestMs = 3 * 24 * 3_600_000;
const failureFirstMs = 10_000;

export interface CatchUp {
  /** Takes note of a thread as it was saved: where events come from, and where a run is unfinished. */
  know(thread: Thread): void;
  open(): void;
  /** Begins no further look; resolves when those under way have ended. */
  close(): Promise<void>;
}

export function createCatchUp(options: {
  readonly platforms: readonly Platform[];
  readonly notes: Notes;
  /** Takes an event in, as when it was delivered. Rejects if it could not be saved. */
  readonly take: (event: PersonEvent) => Promise<unknown>;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Log;
  readonly intervalMs: number;
}): CatchUp {
  const { platforms, notes, take, timers, clock, log, intervalMs } = options;
  const looks = createInFlight();
  const followed = new Set(platforms.filter(({ missed }) => missed).map(({ name }) => name));
  const scopes = new Map<string, Set<Scope>>();
  /** Platforms with scopes that are not noted yet, and those whose scopes are being noted. */
  const unkept = new Set<string>();
  const keeping = new Set<string>();
  /** Events that could not be taken in, as was said. */
  const refused = new Set<string>();
  /** Of threads with an unfinished run. */
  const unfinished = new Map<Ref, readonly Place[]>();
  let open = false;

  /** The scopes as they were noted, and those heard of since. */
  async function scopesOf(name: string): Promise<Set<Scope>> {
    const heard = scopes.get(name) ?? new Set<Scope>();
    scopes.set(name, heard);
    for (const scope of (await notes.note(`scopes-${name}`))?.split("\n") ?? []) if (scope) heard.add(scope);
    return heard;
  }

  /** One write at a time, so that none overwrites a newer one; what is heard of meanwhile is written after it. */
  async function keepScopes(name: string): Promise<void> {
    if (keeping.has(name)) return;
    keeping.add(name);
    try {
      while (unkept.delete(name)) {
        const known = await scopesOf(name);
        await notes.keepNote(`scopes-${name}`, [...known].join("\n"));
      }
    } catch (error) {
      unkept.add(name);
      throw error;
    } finally {
      keeping.delete(name);
    }
  }

  /** Each by itself: one that can't be taken in keeps no other from it. Rejects if looking again may help. */
  async function takeAll(events: readonly PersonEvent[]): Promise<void> {
    let failed: unknown = null;
    for (const event of events) {
      try {
        await take(event);
        refused.delete(event.id);
      } catch (error) {
        if (!refused.has(event.id)) {
          log.error("A missed event could not be taken in", { event: event.id, reason: reasonOf(error) });
        }
        refused.add(event.id);
        // What can't be read now can't be read later.
        if (!(error instanceof Error && error.name === "ThreadUnreadable")) failed = error;
      }
    }
    if (failed !== null) throw failed;
  }

  async function look(platform: Platform, missed: NonNullable<Platform["missed"]>): Promise<void> {
    const { name } = platform;
    const began = clock.now();
    const kept = Date.parse((await notes.note(`heard-until-${name}`)) ?? "");
    const known = await scopesOf(name);
    if (unkept.has(name)) await keepScopes(name);
    // Before the very first start there is nothing that was missed.
    if (!Number.isNaN(kept)) {
      const since = new Date(Math.max(Math.min(kept, began) - overlapMs, began - longestMs)).toISOString();
      const places = [...unfinished.values()].flat().filter((place) => platformOf(place) === name);
      const events = await missed.call(platform, { since, places, scopes: [...known] });
      await takeAll(events);
    }
    // Kept last: a look that was cut short is done again.
    await notes.keepNote(`heard-until-${name}`, new Date(began).toISOString());
  }

  function follow(platform: Platform, missed: NonNullable<Platform["missed"]>): void {
    let failures = 0;
    const again = async (): Promise<void> => {
      try {
        await look(platform, missed);
        if (failures > 0) log.info("What was missed can be looked for again", { platform: platform.name });
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures === 1) {
          const reason = reasonOf(error);
          log.warn("What was missed can't be looked for now", { platform: platform.name, reason });
        }
      }
      const waitMs =
        failures > 0 ? backoffMs(failures, failureFirstMs, intervalMs, clock.random()) : intervalMs;
      if (open) timers.after(waitMs, () => void looks.track(again()));
    };
    void looks.track(again());
  }

  return {
    know({ id, scope, runs, places }) {
      if (runs.some((run) => run.open)) unfinished.set(id, places);
      else unfinished.delete(id);
      const name = platformOf(scope);
      const known = scopes.get(name) ?? new Set<Scope>();
      if (known.has(scope)) return;
      scopes.set(name, known.add(scope));
      if (!followed.has(name)) return;
      unkept.add(name);
      looks.track(keepScopes(name)).catch((error: unknown) => {
        log.warn("A scope could not be noted", { scope, reason: reasonOf(error) });
      });
    },
    open() {
      open = true;
      for (const platform of platforms) if (platform.missed) follow(platform, platform.missed);
    },
    async close() {
      open = false;
      await looks.idle();
    },
  };
}
