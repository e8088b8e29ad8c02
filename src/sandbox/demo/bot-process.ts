import { type ChildProcessByStdio, spawn } from "node:child_process";
import { on, once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";

type Child = ChildProcessByStdio<null, Readable, Readable>;

const startWithinMs = 20_000;
const stopWithinMs = 15_000;

/**
 * Starts the real bot as its own process, in a new folder and with an empty environment, so that no account,
 * file or setting of this machine matters. `url` has no slash at the end. Disposing stops it and removes the folder. Rejects with a sentence
 * if the bot does not start or stop.
 */
export async function startBot(signal: AbortSignal): Promise<AsyncDisposable & { readonly url: string }> {
  const folder = await mkdtemp(join(tmpdir(), "agent-runs-bot-demo-"));
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../start.mjs")], {
    cwd: folder,
    env: { PORT: "0", DATA_DIR: join(folder, "data"), POLL_INTERVAL: "0.5", LOG_LEVEL: "warn" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stop = async (): Promise<void> => {
    const wasOrderly = await end(child);
    await rm(folder, { recursive: true, force: true });
    if (!wasOrderly) throw new Error(`the bot did not stop within ${stopWithinMs / 1000} s and was killed`);
  };
  try {
    return { url: await addressOf(child, signal), [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Resolves with the address that the bot prints once it is ready. */
async function addressOf(child: Child, signal: AbortSignal): Promise<string> {
  let printed = "";
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = `${errors}${text}`.slice(-2_000);
  });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(startWithinMs)]);
  try {
    for await (const [text] of on(child.stdout.setEncoding("utf8"), "data", {
      signal: limit,
      close: ["end"],
    })) {
      printed += text;
      const address = /\bhttp:\/\/[\w.:[\]-]+:\d+/.exec(printed)?.[0];
      if (address !== undefined) return address;
    }
  } catch (error) {
    if (signal.aborted) throw new Error("the demo was interrupted", { cause: error });
    throw new Error(`the bot was not ready within ${startWithinMs / 1000} s. ${errors}`, { cause: error });
  }
  throw new Error(`the bot ended before it was ready. ${errors}`.trim());
}

/** Resolves with false if the process had to be killed. */
async function end(child: Child): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return true;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  let wasOrderly = true;
  const late = setTimeout(() => {
    wasOrderly = false;
    child.kill("SIGKILL");
  }, stopWithinMs);
  await ended;
  clearTimeout(late);
  return wasOrderly;
}
