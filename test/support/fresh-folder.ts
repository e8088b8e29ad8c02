import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Creates an empty temporary folder and removes it when the current test ends. */
export async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "agent-runs-bot-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
