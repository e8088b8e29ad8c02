/** What a process of ours does at its beginning and at its end. */
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import type { Log } from "#base/log.ts";

/** The text of the file at `path`, null if there is none; throws what the file system says otherwise. */
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

/** The key in the file at `path`, which is made, for its owner alone, if it isn't there. Throws a sentence. */
export function keptKey(path: string): string {
  try {
    const kept = readText(path)?.trim();
    return kept ? kept : newKey(path);
  } catch (cause) {
    const sentence = `The service's key can't be kept in ${path}: check that it is a file, who may read and write it, and that the disk has space.`;
    throw new Error(sentence, { cause });
  }
}

/** Made whole before it has its name: of several processes that start at once, all have the first one's key. */
function newKey(path: string): string {
  const key = randomBytes(32).toString("base64url");
  const whole = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  writeFileSync(whole, `${key}\n`, { mode: 0o600 });
  try {
    linkSync(whole, path);
    return key;
  } catch (error) {
    const others = hasCode(error, "EEXIST") ? readText(path)?.trim() : undefined;
    if (others) return others;
    // The file is empty, or the file system has no links.
    renameSync(whole, path);
    return key;
  } finally {
    rmSync(whole, { force: true });
  }
}

/** Adds what `.env` has to the environment; ends the process if it can't be read. */
export function loadEnvironmentFile(): void {
  try {
    const text = readText(".env");
    if (text === null) return;
    // Some editors and shells on Windows write these; Node would pass over the first line, or over all.
    if (text.startsWith("\uFEFF") || text.includes("\0")) {
      refuse([".env is not plain UTF-8: save it as UTF-8 without a byte order mark (BOM)."]);
    }
    process.loadEnvFile();
  } catch {
    refuse([".env can't be read: check that it is a file and who may read it."]);
  }
}

/** Says why the process does not start, a sentence a line, and ends it. */
export function refuse(sentences: readonly string[]): never {
  process.stderr.write(`${sentences.join("\n")}\n`);
  process.exit(1);
}

/** How soon the end of a parent is noticed. */
const parentLookMs = 500;

/**
 * The first signal, or an error that nobody caught, stops `what` in order; a second signal stops it at once.
 * `what` is a subject for the log, such as `The bot`. `byNpm`: npm hands a signal to the shell that it starts us
 * with, and that dies of it without handing it on, so the shell's end counts as a signal too.
 */
export function stopWhenTold(
  what: string,
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
      log.error(`${what} could not stop in order`, { error });
      process.exit(1);
    }
  };
  const onSignal = (signal: "SIGINT" | "SIGTERM"): void => {
    if (stopping) process.exit(128 + constants.signals[signal]);
    log.info(`${what} is stopping`, { signal });
    void stop(0);
  };
  if (byNpm) {
    const parent = process.ppid;
    const looking = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(looking);
      if (stopping) return;
      log.info(`${what} is stopping`, { reason: "npm has ended" });
      void stop(0);
    }, parentLookMs);
    looking.unref();
  }
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.on("uncaughtException", (error) => {
    log.error(`${what} stops because of an error that nobody caught`, { error });
    if (!stopping) void stop(1);
  });
  process.on("unhandledRejection", (error) => {
    log.error("Something failed that nobody waited for", { error });
  });
}
