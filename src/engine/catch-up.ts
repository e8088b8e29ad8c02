/** Finds events that were missed while the bot was not listening: at the start, and every few minutes. */

import { backoffMs } from "#base/backoff.ts";
import { createKeyedLimit } from "#base/keyed-limit.ts";
import type { Log } from "#base/log.ts";
import { reasonOf } from "#base/reason.ts";
import type { PersonEvent } from "#core/event.ts";
import { type Place, platformOf, type Ref, type Scope } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import { createInFlight } from "#engine/base/in-flight.ts";
import type { Timers } from "#engine/base/timers.ts";
import type { Clock, Notes, Platform } from "#ports.ts";

/** How far a look overlaps the last one: for deliveries under way then, and for clocks that differ. */
const overlapMs = 5 * 60_000;
/** Older events are not looked for: platforms forget deliveries, and people have moved on. */
const longestMs = 3 * 24 * 3_600_000;
const failureFirstMs = 10_000;

export interface CatchUp {
  /** Learns from a saved thread where events come from and where a run is unfinished. */
  onSaved(thread: Thread): void;
  /** Begins to look. */
  open(): void;
  /** Begins no more looks; resolves when those under way have ended. */
  close(): Promise<void>;
}

export function createCatchUp(options: {
  readonly platforms: readonly Platform[];
  readonly notes: Notes;
  /** Takes an event as if it was delivered. Rejects if it could not be saved. */
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
  /** Platforms with scopes that are not noted yet. */
  const unkept = new Set<string>();
  const oneAtATime = createKeyedLimit(1);
  /** Events that could not be taken, and are logged. */
  const refused = new Set<string>();
  /** Places of the threads with an unfinished run. */
  const unfinished = new Map<Ref, readonly Place[]>();
  let open = false;

  /** The platform's noted scopes, and those learned since. */
  async function scopesOf(name: string): Promise<Set<Scope>> {
    const known = scopes.get(name) ?? new Set<Scope>();
    scopes.set(name, known);
    for (const scope of (await notes.note(`scopes-${name}`))?.split("\n") ?? []) if (scope) known.add(scope);
    return known;
  }

  /** Notes the platform's scopes, one write at a time, so that none overwrites a newer one. */
  const keepScopes = (name: string): Promise<void> =>
    oneAtATime(name, async () => {
      if (!unkept.delete(name)) return;
      try {
        const known = await scopesOf(name);
        await notes.keepNote(`scopes-${name}`, [...known].join("\n"));
      } catch (error) {
        unkept.add(name);
        throw error;
      }
    });

  /** Takes each event, even after one that can't be taken. Rejects if another look may help. */
  async function takeAll(events: readonly PersonEvent[]): Promise<void> {
    let failed: unknown = null;
    for (const event of events) {
      try {
        await take(event);
        refused.delete(event.id);
      } catch (error) {
        if (!refused.has(event.id)) {
          log.error("A missed event could not be taken", { event: event.id, reason: reasonOf(error) });
        }
        refused.add(event.id);
        // An unreadable thread stays unreadable.
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
    // Nothing was missed before the very first start.
    if (!Number.isNaN(kept)) {
      const since = new Date(Math.max(Math.min(kept, began) - overlapMs, began - longestMs)).toISOString();
      const places = [...unfinished.values()].flat().filter((place) => platformOf(place) === name);
      const events = await missed.call(platform, { since, places, scopes: [...known] });
      await takeAll(events);
    }
    // Noted last, so that an interrupted look is repeated.
    await notes.keepNote(`heard-until-${name}`, new Date(began).toISOString());
  }

  function follow(platform: Platform, missed: NonNullable<Platform["missed"]>): void {
    let failures = 0;
    const again = async (): Promise<void> => {
      try {
        await look(platform, missed);
        if (failures > 0) log.info("Missed events can be looked for again", { platform: platform.name });
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures === 1) {
          const reason = reasonOf(error);
          log.warn("Missed events can't be looked for now", { platform: platform.name, reason });
        }
      }
      const waitMs =
        failures > 0 ? backoffMs(failures, failureFirstMs, intervalMs, clock.random()) : intervalMs;
      if (open) timers.after(waitMs, () => void looks.track(again()));
    };
    void looks.track(again());
  }

  return {
    onSaved({ id, scope, runs, places }) {
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
