/** What the sandbox keeps in `<dataDir>/sandbox.json`, so that a restart of the bot is no new world. */
import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Adapter, Low } from "lowdb";
import { z } from "zod";
import type { Log } from "#base/log.ts";
import type { GitHubSnapshot } from "#sandbox/github/snapshot.ts";
import type { SlackSnapshot } from "#sandbox/slack/workspace.ts";
import { createSecrets, type Secrets } from "./secrets.ts";
import { gitHubSnapshot, secrets, slackSnapshot } from "./snapshot-shape.ts";

const savedState = z.object({ secrets, slack: slackSnapshot, github: gitHubSnapshot });

export interface SavedState {
  readonly secrets: Secrets;
  readonly slack: SlackSnapshot;
  readonly github: GitHubSnapshot;
}

export interface Saved {
  /** As it was when the sandbox was opened. */
  readonly initial: SavedState;
  /** Something has changed: it is written soon, and several changes at once. */
  changed(): void;
  /** Writes what has not been written yet. */
  close(): Promise<void>;
}

export interface SavedOptions {
  readonly dataDir: string;
  /** What there is if nothing was saved. */
  readonly prepared: Omit<SavedState, "secrets">;
  /** The two worlds as they are now. */
  readonly read: () => Omit<SavedState, "secrets">;
  readonly log: Log;
}

/** Between two writes, in milliseconds: so much may be missing after a crash. */
const betweenWritesMs = 20;

/**
 * Reads what was saved, or begins anew; a file that can't be understood is set aside. Rejects with the file
 * system's error if the file is there and can't be read, or can't be written.
 */
export async function openSavedState({ dataDir, prepared, read, log }: SavedOptions): Promise<Saved> {
  const path = join(dataDir, "sandbox.json");
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = new Low<SavedState | null>(stateFile(path, log), null);
  await file.read();
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
    initial,
    changed() {
      dirty = true;
      timer ??= setTimeout(() => void writeNext(), betweenWritesMs);
    },
    async close() {
      if (timer !== null) clearTimeout(timer);
      await writeNext();
    },
  };
}

/** Replaced whole, and for its owner's eyes only: the file holds the tokens. */
function stateFile(path: string, log: Log): Adapter<SavedState | null> {
  return {
    async read() {
      const text = await readText(path);
      if (text === null) return null;
      const parsed = savedState.safeParse(parse(text));
      if (parsed.success) return parsed.data;
      const aside = `${path}.broken-${randomUUID()}`;
      await rename(path, aside);
      log.warn("What the sandbox had saved can't be understood; it begins anew", { aside });
      return null;
    },
    async write(state) {
      const temporary = join(dirname(path), `.sandbox.json.${randomUUID()}.tmp`);
      try {
        const handle = await open(temporary, "wx", 0o600);
        try {
          await handle.writeFile(JSON.stringify(state));
          await handle.sync();
        } finally {
          await handle.close();
        }
        await rename(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => undefined);
        throw error;
      }
    },
  };
}

/** null: there is no such file. */
async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
