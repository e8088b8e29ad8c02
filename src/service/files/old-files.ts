import { randomUUID } from "node:crypto";
import { renameSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "#base/log.ts";

/** Whether a run is over for long enough; `madeAt` is what counts for a run that nobody knows. */
export type IsOver = (runId: string, madeAt: number) => boolean;

/** How the names of what belongs to a run begin: with its id, a UUID. */
const idLength = 36;

export interface OldFilesOptions {
  readonly isOver: IsOver;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/**
 * Removes what runs that `isOver` says yes to have in the folder: files and folders whose names begin with the
 * run's id. What can't be removed stays until the next time.
 */
export async function removeOldFiles(
  folder: string,
  { isOver, signal, log }: OldFilesOptions,
): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (signal.aborted) return;
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    const runId = name.slice(0, idLength);
    if (found === null || !isOver(runId, found.mtimeMs)) continue;
    try {
      // Out of the way in the same moment: the run may begin again while they are removed.
      const away = join(folder, `${runId}.${randomUUID()}.old`);
      renameSync(path, away);
      await rm(away, { recursive: true, force: true });
    } catch (error) {
      log.warn("old files of a run could not be removed", { path, error });
    }
  }
}
