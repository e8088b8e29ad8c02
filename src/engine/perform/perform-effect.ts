import { reasonOf } from "#base/reason.ts";
import { presentName } from "#core/decide/places.ts";
import type { Effect } from "#core/effect.ts";
import type { Outcome } from "#core/outcome.ts";
import { placeAt } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import { type Api, failed } from "#engine/api/api.ts";
import { performApiEffect } from "#engine/api/api-effects.ts";
import { withGuardedWrites } from "#engine/api/guarded-writes.ts";
import type { Timers } from "#engine/base/timers.ts";
import type { Save } from "#engine/save.ts";
import type { Attempt, Platform } from "#ports.ts";
import { systemOf } from "./destination.ts";
import { handOver } from "./hand-over.ts";

/** Tries one of the thread's effects. Never rejects. */
export type PerformEffect = (effect: Effect, thread: Thread, attempt: Attempt) => Promise<Outcome>;

const tookTooLong = failed({
  certainty: "unknown",
  retryable: true,
  reason: "No answer arrived in time.",
});

const defect = failed({
  certainty: "unknown",
  retryable: true,
  reason: "Something unexpected went wrong in the bot.",
});

/** Creates the function that passes effects to their systems. After `limitMs` the outcome is unknown. */
export function createPerformEffect(options: {
  readonly api: Api;
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly save: Save;
  readonly timers: Timers;
  readonly limitMs: number;
  /** See `Turns`. */
  readonly limitedForMs: (effect: Effect) => number;
}): PerformEffect {
  const { api, platforms, save, timers, limitMs, limitedForMs } = options;

  async function perform(effect: Effect, thread: Thread, attempt: Attempt): Promise<Outcome> {
    if ("at" in effect) {
      const platform = platforms.get(systemOf(effect));
      if (platform === undefined) throw new Error("the effects of this platform are held");
      const at = presentName(thread, effect.at);
      const outcome = await platform.perform({ ...effect, at: placeAt(at) }, attempt);
      const isHere = outcome.ok && outcome.kind === "card" && outcome.place === at;
      // The thread keeps its own name of the place.
      return isHere ? { ...outcome, place: placeAt(effect.at) } : outcome;
    }
    if (effect.kind === "hand-over") return handOver(save, effect, api.log);
    const guarded = withGuardedWrites(api, timers, {
      beginMs: limitMs / 2,
      limitedForMs: () => limitedForMs(effect),
    });
    return performApiEffect(guarded.api, effect, thread, attempt).finally(guarded.callOff);
  }

  return async (effect, thread, attempt) => {
    const late = Promise.withResolvers<Outcome>();
    const callOff = timers.after(limitMs, () => late.resolve(tookTooLong));
    try {
      return await Promise.race([perform(effect, thread, attempt), late.promise]);
    } catch (error) {
      const { id, kind } = effect;
      api.log.error("An effect failed unexpectedly", { effect: id, kind, reason: reasonOf(error) });
      return defect;
    } finally {
      callOff();
    }
  };
}
