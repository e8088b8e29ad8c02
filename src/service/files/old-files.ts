import { randomUUID } from "node:crypto";
import { renameSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "#base/log.ts";

/** Whether a run ended long enough ago. `madeAt` decides for an unknown run; milliseconds since the epoch. */
export type IsOver = (runId: string, madeAt: number) => boolean;

/** Names of a run's files begin with its id, a UUID. */
const idLength = 36;

/** Removes the files and folders of runs that are over. A failed removal is logged and tried again the next time. */
export async function removeOldFiles(
  folder: string,
  { isOver, signal, log }: { readonly isOver: IsOver; readonly signal: AbortSignal; readonly log: Log },
): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (signal.aborted) return;
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    const runId = name.slice(0, idLength);
    if (found === null || !isOver(runId, found.mtimeMs)) continue;
    try {
      // Moved away at once and synchronously, because the run may begin again during the removal.
      const away = join(folder, `${runId}.${randomUUID()}.old`);
      renameSync(path, away);
      await rm(away, { recursive: true, force: true });
    } catch (error) {
      log.warn("old files of a run could not be removed", { path, error });
    }
  }
}
