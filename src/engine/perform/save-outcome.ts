import type { Log } from "#base/log.ts";
import type { Effect } from "#core/effect.ts";
import type { OutcomeEvent } from "#core/event.ts";
import type { Outcome } from "#core/outcome.ts";
import type { Ref } from "#core/place.ts";
import { backoffMs } from "#engine/base/backoff.ts";
import { reasonOf } from "#engine/base/reason.ts";
import type { Timers } from "#engine/base/timers.ts";
import type { Save } from "#engine/save.ts";
import type { Clock, Store } from "#ports.ts";
import { takenFault } from "./claim.ts";

/** `gone`: the thread is not in the store any more. `closed`: the engine stopped before it could be saved. */
export type SaveOutcome = (
  thread: Ref,
  effect: Effect,
  outcome: Outcome,
) => Promise<"saved" | "gone" | "closed">;

const firstMs = 500;
const mostMs = 30_000;

/**
 * Saves what came of an effect, as often as it takes: what was done must not be done again only because a
 * disk was full. What no thread but another can have is saved as refused. Never rejects.
 */
export function createSaveOutcome(options: {
  readonly save: Save;
  readonly store: Store;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Log;
}): SaveOutcome {
  const { save, store, timers, clock, log } = options;
  return async (thread, effect, outcome) => {
    const random = clock.random();
    let event: OutcomeEvent = { kind: "outcome", thread, effect: effect.id, outcome, random };
    for (let failures = 0; ; ) {
      try {
        const saved = await save(event);
        if (failures > 0) log.info("An effect's outcome is saved at last", { effect: effect.id, failures });
        return saved.thread === null ? "gone" : "saved";
      } catch (error) {
        failures += 1;
        if (failures === 1) {
          log.error("An effect's outcome could not be saved; saving goes on", {
            effect: effect.id,
            kind: effect.kind,
            reason: reasonOf(error),
          });
        }
        const fault = await takenFault(store, thread, event.outcome);
        if (fault !== null) event = { ...event, outcome: { ok: false, fault } };
      }
      await timers.sleep(backoffMs(failures, firstMs, mostMs, clock.random()));
      if (timers.closed()) return "closed";
    }
  };
}
