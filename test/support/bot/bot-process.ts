import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const start = join(import.meta.dirname, "../../../src/start.mjs");

export interface BotProcess {
  readonly child: ChildProcess;
  /** All that it wrote so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with the exit status, or the signal that ended it. */
  readonly ended: Promise<number | string | null>;
  /** Resolves with the URL of its greeting; rejects if it ends before. */
  url(): Promise<string>;
}

/** Real processes of the bot, each in a folder of its own unless told otherwise, with a bare environment. */
export function botProcesses() {
  const folders: string[] = [];
  const children: ChildProcess[] = [];

  async function folder(): Promise<string> {
    const made = await mkdtemp(join(tmpdir(), "bot-"));
    folders.push(made);
    return made;
  }

  async function run(
    env: Readonly<Record<string, string>>,
    how: { cwd?: string; nodeArgs?: readonly string[]; script?: string; scriptArgs?: readonly string[] } = {},
  ): Promise<BotProcess> {
    const { PATH = "" } = process.env;
    const child = spawn(
      process.execPath,
      [...(how.nodeArgs ?? []), how.script ?? start, ...(how.scriptArgs ?? [])],
      {
        cwd: how.cwd ?? (await folder()),
        env: { PATH, PORT: "0", ...env },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    children.push(child);
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const ended = once(child, "close").then(([status, signal]) => status ?? signal);
    const greeted = new Promise<string>((resolve, reject) => {
      child.stdout.on("data", () => {
        const url = /listens at (\S+)\n/.exec(stdout)?.[1];
        if (url !== undefined) resolve(url);
      });
      void ended.then((status) => reject(new Error(`the bot ended with ${status}: ${stdout}${stderr}`)));
    });
    greeted.catch(() => {});
    return { child, stdout: () => stdout, stderr: () => stderr, ended, url: () => greeted };
  }

  /** Ends whatever still runs, and removes the folders. */
  async function clean(): Promise<void> {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "close");
    }
    for (const made of folders.splice(0)) await rm(made, { recursive: true, force: true });
  }

  return { folder, run, clean };
}
