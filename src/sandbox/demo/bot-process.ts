import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface BotProcess extends AsyncDisposable {
  /** Where it listens, without a slash at the end. */
  readonly url: string;
}

const startWithinMs = 20_000;
const stopWithinMs = 15_000;

/**
 * Starts the real bot as a process of its own, in a new folder and with nothing of the environment, so that
 * no account, file or setting of this machine plays a part. Disposing of it stops it and removes the folder.
 * Rejects with a sentence if it does not start, or does not stop.
 */
export async function startBot(signal: AbortSignal): Promise<BotProcess> {
  const folder = await mkdtemp(join(tmpdir(), "agent-runs-bot-demo-"));
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../start.mjs")], {
    cwd: folder,
    env: { PORT: "0", DATA_DIR: join(folder, "data"), POLL_INTERVAL: "0.5", LOG_LEVEL: "warn" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stop = async (): Promise<void> => {
    const inOrder = await end(child);
    await rm(folder, { recursive: true, force: true });
    if (!inOrder) throw new Error(`the bot did not stop within ${stopWithinMs / 1000} s and was killed`);
  };
  try {
    return { url: await addressOf(child, signal), [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The bot says where it listens once it is ready. */
async function addressOf(child: ChildProcess, signal: AbortSignal): Promise<string> {
  const found = Promise.withResolvers<string>();
  let said = "";
  let complaints = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    const address = /\bhttp:\/\/[\w.:[\]-]+:\d+/.exec(said)?.[0];
    if (address !== undefined) found.resolve(address);
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    complaints = `${complaints}${text}`.slice(-2_000);
  });
  child.once("error", (cause) => found.reject(new Error("the bot could not be started", { cause })));
  child.once("exit", (code) =>
    found.reject(new Error(`the bot ended with code ${code}. ${complaints}`.trim())),
  );
  const giveUp = (reason: string): void => found.reject(new Error(reason));
  const late = setTimeout(
    () => giveUp(`the bot was not ready within ${startWithinMs / 1000} s. ${complaints}`),
    startWithinMs,
  );
  const called = (): void => giveUp("it was called off");
  signal.addEventListener("abort", called, { once: true });
  try {
    return await found.promise;
  } finally {
    clearTimeout(late);
    signal.removeEventListener("abort", called);
  }
}

/** False: it had to be killed. */
async function end(child: ChildProcess): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return true;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  let inOrder = true;
  const late = setTimeout(() => {
    inOrder = false;
    child.kill("SIGKILL");
  }, stopWithinMs);
  await ended;
  clearTimeout(late);
  return inOrder;
}
