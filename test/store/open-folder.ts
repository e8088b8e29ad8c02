import { onTestFinished } from "vitest";
import type { LocalStore } from "#store/local-store.ts";
import { type OpenStoreOptions, openStore } from "#store/open-store.ts";
import { memoryLog } from "./threads.ts";

export { freshFolder as newFolder } from "#test/support/fresh-folder.ts";

/** An open store that is closed before its folder goes. */
export async function open(dataDir: string, more: Partial<OpenStoreOptions> = {}): Promise<LocalStore> {
  const store = await openStore({ dataDir, log: memoryLog().log, now: Date.now, ...more });
  onTestFinished(() => store.close());
  return store;
}
