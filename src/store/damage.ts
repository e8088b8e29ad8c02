import { writeFileSync } from "node:fs";
import type { Log } from "#base/log.ts";
import { isDamage } from "#disk/errors.ts";
import { StoreDamaged, type StoreError, storeError } from "./errors.ts";

/** Returns the path of the file that makes the next start salvage the database at `path`. */
export const damageMark = (path: string): string => `${path}.damaged`;

/** Remembers whether the database is damaged. */
export interface DamageWatch {
  /** Returns the error for `cause`; `doing` completes "The store could not …". Logs and marks the first damage. */
  errorOf(doing: string, cause: unknown): StoreError;
  /** Throws `StoreDamaged` if the database is damaged. */
  assertNone(): void;
}

/** Watches the database at `path`. */
export function createDamageWatch(path: string, log: Log): DamageWatch {
  let noticed: StoreDamaged | null = null;

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
        try {
          writeFileSync(damageMark(path), "", { mode: 0o600 });
        } catch (error) {
          log.warn("The damaged database could not be marked for the next start", { error });
        }
      }
      return damage;
    },
    assertNone() {
      if (noticed !== null) throw noticed;
    },
  };
}
