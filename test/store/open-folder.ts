import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { LocalStore } from "#store/local-store.ts";
import { type OpenStoreOptions, openStore } from "#store/open-store.ts";
import { memoryLog } from "./threads.ts";

/** A new folder that is gone after the test. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "store-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** An open store that is closed before its folder goes. */
export async function open(dataDir: string, more: Partial<OpenStoreOptions> = {}): Promise<LocalStore> {
  const store = await openStore({ dataDir, log: memoryLog().log, now: Date.now, ...more });
  onTestFinished(() => store.close());
  return store;
}
