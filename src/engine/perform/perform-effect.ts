import type { Effect } from "#core/effect.ts";
import type { Outcome } from "#core/outcome.ts";
import { platformOf } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";
import type { Api } from "#engine/api/api.ts";
import { performApiEffect } from "#engine/api/api-effects.ts";
import { unlessLate } from "#engine/api/write-deadline.ts";
import { reasonOf } from "#engine/base/reason.ts";
import type { Timers } from "#engine/base/timers.ts";
import type { Save } from "#engine/save.ts";
import type { Attempt, Platform } from "#ports.ts";
import { handOver } from "./hand-over.ts";

export type PerformEffect = (effect: Effect, thread: Thread, attempt: Attempt) => Promise<Outcome>;

/** Has each effect performed by whom it concerns, and its end known within `limitMs`. Never rejects. */
export function createPerformEffect(options: {
  readonly api: Api;
  readonly platforms: readonly Platform[];
  readonly save: Save;
  readonly timers: Timers;
  readonly limitMs: number;
}): PerformEffect {
  const { api, save, timers, limitMs } = options;
  const platforms = new Map(options.platforms.map((platform) => [platform.name, platform]));

  async function perform(effect: Effect, thread: Thread, attempt: Attempt): Promise<Outcome> {
    switch (effect.kind) {
      case "create":
      case "follow-up":
      case "cancel":
      case "fetch":
      case "answer":
      case "list": {
        const timed = unlessLate(api, timers, limitMs / 2);
        return performApiEffect(timed.api, effect, thread, attempt).finally(timed.callOff);
      }
      case "hand-over":
        return handOver(save, effect, api.log);
      case "card":
      case "reply":
      case "tell":
      case "react":
      case "label":
      case "read":
      case "permission": {
        const name = platformOf(effect.at);
        const platform = platforms.get(name);
        return platform === undefined ? notConnected(name) : platform.perform(effect, attempt);
      }
      default:
        return effect satisfies never;
    }
  }

  return (effect, thread, attempt) =>
    new Promise((resolve) => {
      const callOff = timers.after(limitMs, () => resolve(tookTooLong));
      perform(effect, thread, attempt).then(
        (outcome) => {
          callOff();
          resolve(outcome);
        },
        (error: unknown) => {
          callOff();
          api.log.error("An effect failed unexpectedly", {
            effect: effect.id,
            kind: effect.kind,
            reason: reasonOf(error),
          });
          resolve(defect);
        },
      );
    });
}

const notConnected = (name: string): Outcome => ({
  ok: false,
  fault: {
    certainty: "refused",
    retryable: false,
    reason: `The bot is not connected to “${name}” any more.`,
    code: "not_connected",
  },
});

const tookTooLong: Outcome = {
  ok: false,
  fault: { certainty: "unknown", retryable: true, reason: "There was no answer in time." },
};

const defect: Outcome = {
  ok: false,
  fault: { certainty: "unknown", retryable: true, reason: "Something unexpected went wrong in the bot." },
};
