/** The sandbox's state in `<dataDir>/sandbox.json`, kept across restarts. */
import { randomUUID } from "node:crypto";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { Low } from "lowdb";
import { z } from "zod";
import type { Log } from "#base/log.ts";
import { BrokenDocument, durableFile } from "#disk/durable-file.ts";
import { gitHubSnapshot } from "#sandbox/github/snapshot.ts";
import { slackSnapshot } from "#sandbox/slack/workspace.ts";
import { createSecrets, secrets } from "./secrets.ts";

const savedState = z.object({ secrets, slack: slackSnapshot, github: gitHubSnapshot });
type SavedState = z.infer<typeof savedState>;
type Worlds = Omit<SavedState, "secrets">;

/** Options of the saved state. */
export interface SavedOptions {
  readonly dataDir: string;
  /** The initial state if nothing was saved. */
  readonly prepared: Worlds;
  /** Returns the current state. */
  readonly read: () => Worlds;
  readonly log: Log;
}

/** Between two writes, in milliseconds; a crash loses this much at most. */
const betweenWritesMs = 20;

/**
 * Reads the saved state, or begins with the prepared one; a file without a valid state is set aside. Rejects
 * with the file system's error if the file can't be read or written.
 */
export async function openSavedState({ dataDir, prepared, read, log }: SavedOptions) {
  const path = join(dataDir, "sandbox.json");
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = new Low<SavedState | null>(
    durableFile(path, (value) => savedState.parse(value)),
    null,
  );
  try {
    await file.read();
  } catch (error) {
    if (!(error instanceof BrokenDocument)) throw error;
    const aside = `${path}.broken-${randomUUID()}`;
    await rename(path, aside);
    log.warn("The saved sandbox can't be read and was set aside; a new one was created", {
      aside,
    });
  }
  const initial = file.data ?? { secrets: createSecrets(), ...prepared };
  if (file.data === null) {
    file.data = initial;
    await file.write();
  }

  let dirty = false;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    if (!dirty) return;
    dirty = false;
    file.data = { secrets: initial.secrets, ...read() };
    try {
      await file.write();
    } catch (error) {
      dirty = true;
      log.warn("The sandbox could not be saved", { error });
    }
  }
  const writeNext = (): Promise<void> => {
    timer = null;
    writing = writing.then(write);
    return writing;
  };

  return {
    /** The state at the start. */
    initial,
    /** Writes a change soon, several changes at once. */
    changed(): void {
      dirty = true;
      timer ??= setTimeout(() => void writeNext(), betweenWritesMs);
    },
    /** Writes the last changes. */
    async close(): Promise<void> {
      if (timer !== null) clearTimeout(timer);
      await writeNext();
    },
  };
}
