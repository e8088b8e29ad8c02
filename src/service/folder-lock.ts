import { mkdir, open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isAlreadyThere, isMissing } from "./durable-file.ts";
import { startOf } from "./process-identity.ts";

/** Another process works in the folder; two would run every run twice. */
class FolderInUse extends Error {
  override name = "FolderInUse";
}

/**
 * Takes the folder for this process; what resolves gives it back. A lock whose owner is gone is taken over.
 * Rejects with `FolderInUse`.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, "owner.lock");
  const mine = `${process.pid} ${await startOf(process.pid)}`;
  for (let attempt = 1; ; attempt++) {
    try {
      const file = await open(path, "wx", 0o600);
      await file.writeFile(mine).finally(() => file.close());
      return () => rm(path, { force: true });
    } catch (error) {
      if (!isAlreadyThere(error)) throw error;
      const owner = await liveOwner(path);
      if (owner !== null || attempt > 3) {
        throw new FolderInUse(`${folder} is in use by process ${owner ?? "unknown"} (${path})`);
      }
      await rm(path, { force: true });
    }
  }
}

/** The process that holds the lock; null if it is surely not running any more, or can't be told. */
async function liveOwner(path: string): Promise<number | null> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
  const pid = Number.parseInt(text, 10);
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  const start = await startOf(pid);
  return start !== null && text === `${pid} ${start}` ? pid : null;
}
