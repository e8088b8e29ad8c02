import { backoffMs } from "#base/backoff.ts";
import type { Log } from "#base/log.ts";
import { reasonOf } from "#base/reason.ts";
import type { Effect } from "#core/effect.ts";
import type { OutcomeEvent } from "#core/event.ts";
import type { Outcome } from "#core/outcome.ts";
import type { Ref } from "#core/place.ts";
import type { Timers } from "#engine/base/timers.ts";
import type { Save } from "#engine/save.ts";
import type { Attempt, Clock, Store } from "#ports.ts";
import { takenFault } from "./claim.ts";

/** Saves an effect's outcome. `gone`: the store no longer has the thread. `closed`: the engine stopped first. */
export type SaveOutcome = (
  thread: Ref,
  effect: Effect,
  outcome: Outcome,
  attempt: Attempt,
) => Promise<"saved" | "gone" | "closed">;

const firstMs = 500;
const mostMs = 30_000;

/**
 * Creates `SaveOutcome`, which retries until the outcome is saved: a full disk must not make the effect happen
 * twice. An outcome whose place or run belongs to another thread is saved as refused. Never rejects.
 */
export function createSaveOutcome(options: {
  readonly save: Save;
  readonly store: Store;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Log;
}): SaveOutcome {
  const { save, store, timers, clock, log } = options;
  return async (thread, effect, outcome, { uncertain }) => {
    const random = clock.random();
    let event: OutcomeEvent = { kind: "outcome", thread, effect: effect.id, outcome, uncertain, random };
    for (let failures = 0; ; ) {
      try {
        const saved = await save(event);
        if (failures > 0)
          log.info("An effect's outcome was saved after failures", { effect: effect.id, failures });
        return saved.thread === null ? "gone" : "saved";
      } catch (error) {
        failures += 1;
        if (failures === 1) {
          log.error("An effect's outcome could not be saved; retrying", {
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
