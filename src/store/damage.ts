import { writeFileSync } from "node:fs";
import type { Log } from "#base/log.ts";
import { isDamage } from "#disk/errors.ts";
import { StoreDamaged, type StoreError, storeError } from "./errors.ts";

/** The file beside the database at `path` that has the next start save what can be read of it. */
export const damageMark = (path: string): string => `${path}.damaged`;

/** Notices that the database is damaged. */
export interface DamageWatch {
  /** `doing` completes "The store could not …". Damage is logged once, and marked for the next start. */
  errorOf(doing: string, cause: unknown): StoreError;
  /** Throws `StoreDamaged` if damage was noticed. */
  assertNone(): void;
}

export function createDamageWatch(path: string, log: Log): DamageWatch {
  let noticed: StoreDamaged | null = null;

  function mark(): void {
    try {
      writeFileSync(damageMark(path), "", { mode: 0o600 });
    } catch (error) {
      log.warn("The damaged database could not be marked for the next start", { error });
    }
  }

  return {
    errorOf(doing, cause) {
      if (!isDamage(cause)) return storeError(doing, cause);
      const damage = new StoreDamaged(
        `The store could not ${doing}: the database ${path} is damaged. ` +
          "Restart the bot: it sets the database aside and keeps the threads that can be read.",
        { cause },
      );
      if (noticed === null) {
        noticed = damage;
        log.error(damage.message, { error: cause });
        mark();
      }
      return damage;
    },
    assertNone() {
      if (noticed !== null) throw noticed;
    },
  };
}
