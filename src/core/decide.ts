import type { Event } from "./event.ts";
import type { Rules } from "./policy.ts";
import type { Thread } from "./thread.ts";

/**
 * `keep`: the thread as it should be, its new effects in it (the very same object if nothing changes).
 * `ignore`: the event concerns nothing of ours. `again`: it came before what it belongs to was written down.
 */
export type Decision =
  | { readonly kind: "keep"; readonly thread: Thread }
  | { readonly kind: "ignore" }
  | { readonly kind: "again" };

/** `now` in milliseconds since the epoch. */
export type Decide = (thread: Thread | null, event: Event, now: number) => Decision;

export function createDecide(_rules: Rules): Decide {
  throw new Error("not built yet");
}
