/** A process that is started, killed and started again. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";

export interface Child {
  readonly pid: number | undefined;
  /** Resolves with where it listens; rejects if it ends before. */
  readonly url: Promise<string>;
  /** Resolves with the exit status, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  readonly over: () => boolean;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | NodeJS.Signals | null>;
}

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Its errors and its log are added to this file. */
  readonly log: string;
}

/** Its first address on stdout is where it listens. */
export function startChild({ command, args, cwd, env, log }: ChildOptions): Child {
  const file = openSync(log, "a");
  const child: ChildProcess = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", file] });
  closeSync(file);
  let over = false;
  const ended = once(child, "exit").then(([status, signal]) => {
    over = true;
    return (status ?? signal) as number | NodeJS.Signals | null;
  });
  let said = "";
  const url = new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(0, 10_000);
      const address = /(http:\/\/127\.0\.0\.1:\d+)\s/.exec(said)?.[1];
      if (address !== undefined) resolve(address);
    });
    void ended.then((how) => reject(new Error(`it ended with ${how} before it listened; see ${log}`)));
  });
  url.catch(() => {});
  return {
    pid: child.pid,
    url,
    ended,
    over: () => over,
    signal(signal) {
      if (!over) child.kill(signal);
    },
    end(signal) {
      if (!over) child.kill(signal);
      return ended;
    },
  };
}
