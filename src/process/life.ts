/** Starting and stopping the bot's or the service's process. */
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import type { Log } from "#base/log.ts";

/** Returns the text of the file at `path`, null if there is none; throws the file system's error otherwise. */
export function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;
const isMissing = (error: unknown): boolean => hasCode(error, "ENOENT");

/**
 * Returns the key in the file at `path`. If there is none, makes a key, and the file, for its owner alone. Throws an
 * Error with a sentence for people.
 */
export function keptKey(path: string): string {
  try {
    const kept = readText(path)?.trim();
    return kept ? kept : newKey(path);
  } catch (cause) {
    const sentence = `The service's key can't be kept in ${path}: check that it is a file, that this account may read and write it, and that the disk has space.`;
    throw new Error(sentence, { cause });
  }
}

/** Links the file once it is complete, so that processes that start simultaneously all use the first one's key. */
function newKey(path: string): string {
  const key = randomBytes(32).toString("base64url");
  const complete = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  writeFileSync(complete, `${key}\n`, { mode: 0o600 });
  try {
    linkSync(complete, path);
    return key;
  } catch (error) {
    const others = hasCode(error, "EEXIST") ? readText(path)?.trim() : undefined;
    if (others) return others;
    // The file is empty, or the file system has no links.
    renameSync(complete, path);
    return key;
  } finally {
    rmSync(complete, { force: true });
  }
}

/** Adds the variables in `.env` to the environment; ends the process if it can't be read. */
export function loadEnvironmentFile(): void {
  try {
    const text = readText(".env");
    if (text === null) return;
    // Some Windows editors and shells write a BOM or UTF-16; Node would ignore the first line, or all of them.
    if (text.startsWith("\uFEFF") || text.includes("\0")) {
      refuse([".env is not plain UTF-8: save it as UTF-8 without a byte order mark (BOM)."]);
    }
    process.loadEnvFile();
  } catch {
    refuse([".env can't be read: check that it is a file and who may read it."]);
  }
}

/** Prints why the process can't start, a sentence a line, and ends it with status 1. */
export function refuse(sentences: readonly string[]): never {
  process.stderr.write(`${sentences.join("\n")}\n`);
  process.exit(1);
}

/** The interval between checks whether the parent process has ended. */
const parentCheckMs = 500;

/**
 * Stops the program cleanly at the first signal or uncaught error, and at once at a second signal. `subject` is its
 * name in the log, such as `The bot`. `byNpm`: npm started the process through a shell, which ends on a signal
 * without passing it on, so the shell's end counts as a signal too.
 */
export function stopOnSignal(
  subject: string,
  starting: Promise<{ stop(): Promise<void> }>,
  { log, byNpm }: { readonly log: Log; readonly byNpm: boolean },
): void {
  let stopping = false;
  const stop = async (status: number): Promise<void> => {
    stopping = true;
    try {
      const started = await starting;
      await started.stop();
      process.exit(status);
    } catch (error) {
      log.error(`${subject} could not stop cleanly`, { error });
      process.exit(1);
    }
  };
  const onSignal = (signal: "SIGINT" | "SIGTERM"): void => {
    if (stopping) process.exit(128 + constants.signals[signal]);
    log.info(`${subject} is stopping`, { signal });
    void stop(0);
  };
  if (byNpm) {
    const parent = process.ppid;
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      if (stopping) return;
      log.info(`${subject} is stopping`, { reason: "npm has ended" });
      void stop(0);
    }, parentCheckMs);
    timer.unref();
  }
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.on("uncaughtException", (error) => {
    log.error(`${subject} is stopping after an uncaught error`, { error });
    if (!stopping) void stop(1);
  });
  process.on("unhandledRejection", (error) => {
    log.error("Unhandled rejection", { error });
  });
}
