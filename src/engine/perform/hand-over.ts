import type { Log } from "#base/log.ts";
import { reasonOf } from "#base/reason.ts";
import type { HandOverEffect } from "#core/effect.ts";
import type { Outcome } from "#core/outcome.ts";
import { failed } from "#engine/api/api.ts";
import type { Save } from "#engine/save.ts";

/** Has the event decided in the ref's thread. May be repeated, since threads record event ids. Never rejects. */
export async function handOver(save: Save, effect: HandOverEffect, log: Log): Promise<Outcome> {
  try {
    const { answer } = await save(effect.event, { ref: effect.ref, onlyKnown: true });
    if (answer === "again") return notYet("The thread of this run is not saved yet.");
    return { ok: true, kind: "hand-over", taken: answer !== "unknown" };
  } catch (error) {
    log.warn("A command could not be handed over", { effect: effect.id, reason: reasonOf(error) });
    return notYet("The command could not be saved.");
  }
}

const notYet = (reason: string): Outcome => failed({ certainty: "not-sent", retryable: true, reason });
