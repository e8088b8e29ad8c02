import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";

/** A process that a test starts and ends. */
export interface Child {
  readonly pid: number;
  /** Everything written so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with the URL on stdout where it listens; rejects if it ends before. */
  readonly url: Promise<string>;
  /** Resolves with the exit status, or with the signal that ended it, once all output has been read. */
  readonly ended: Promise<number | NodeJS.Signals>;
  isOver(): boolean;
  /** Sends the signal unless the process has ended. */
  signal(signal: NodeJS.Signals): void;
  /** Sends the signal and resolves as `ended` does. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

export interface ChildOptions {
  /** Node by default. */
  readonly command?: string;
  readonly cwd?: string;
  /** The whole environment besides PATH. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** stderr is appended to this file instead of being kept. */
  readonly errorFile?: string;
}

/** Starts a process. The caller ends it. */
export function startChild(
  args: readonly string[],
  { command = process.execPath, cwd, env = {}, errorFile }: ChildOptions = {},
): Child {
  const file = errorFile === undefined ? null : openSync(errorFile, "a");
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", file ?? "pipe"],
  });
  if (file !== null) closeSync(file);
  let isOver = false;
  let stdout = "";
  let stderr = "";
  child.once("exit", () => {
    isOver = true;
  });
  const ended = once(child, "close").then(
    ([status, signal]: (number | NodeJS.Signals)[]) => status ?? signal ?? 0,
  );
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const url = new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      const found = /(?:^|listens at )(http:\S+)\n/m.exec(stdout)?.[1];
      if (found !== undefined && stdout.endsWith("\n")) resolve(found);
    });
    ended.then(
      (how) =>
        reject(new Error(`It ended with ${how} before it listened: ${stdout}${stderr}${errorFile ?? ""}`)),
      reject,
    );
  });
  url.catch(() => {});
  const signal = (name: NodeJS.Signals): void => {
    if (!isOver) child.kill(name);
  };
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    url,
    ended,
    isOver: () => isOver,
    signal,
    end(name) {
      signal(name);
      return ended;
    },
  };
}
