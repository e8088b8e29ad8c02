import { type ChildProcess, spawn } from "node:child_process";
import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { endProcesses } from "./process-group.ts";
import type { StartedProcesses } from "./started-processes.ts";

/** A line for the shell, or a program with arguments that no shell reads. */
export type Command =
  | { readonly line: string }
  | { readonly program: string; readonly args: readonly string[] };

export interface ProcessWish {
  /** Whose process it is; a run has one at a time. */
  readonly runId: string;
  readonly command: Command;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What it reads on stdin. */
  readonly input: string;
}

/** `unstarted`: there is no such process. `aborted`: it was ended by the signal. */
export type ProcessEnd =
  | { readonly kind: "exited"; readonly code: number | null }
  | { readonly kind: "killed"; readonly by: NodeJS.Signals }
  | { readonly kind: "unstarted"; readonly error: unknown }
  | { readonly kind: "aborted" };

/**
 * Runs a process and everything it starts, in a group of its own without a terminal. Resolves when all of
 * it has ended: what is left running when the process itself ends is ended too, and all of it soon after
 * `signal` is aborted. Killed services' processes are found again by `started`.
 */
export type RunProcess = (
  wish: ProcessWish,
  signal: AbortSignal,
  hear: { readonly stdout: (text: string) => void; readonly stderr: (text: string) => void },
) => Promise<ProcessEnd>;

/**
 * A line before the command that holds it up until its process is written down. If the service dies before
 * that, the line reads the end of the pipe and the command never begins.
 */
const gate = "IFS= read -r go <&3 || exit 1; exec 3<&-\n";
const gated = process.platform !== "win32";

/** How long what a command left behind may still write once the command itself has ended. */
const lastWordsMs = 500;

/** `graceMs` is from SIGTERM to SIGKILL. */
export function createRunProcess(started: StartedProcesses, graceMs: number): RunProcess {
  return async (wish, signal, hear) => {
    if (signal.aborted) return { kind: "aborted" };
    let child: ChildProcess;
    try {
      child = start(wish);
    } catch (error) {
      return { kind: "unstarted", error };
    }
    const { pid } = child;
    const exit = exitOf(child);
    const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
    read(child.stdout, hear.stdout);
    read(child.stderr, hear.stderr);
    if (pid === undefined) return exit;

    // Only an agent has a turn, and only what an agent has left can be told from others' processes.
    const agentOf = wish.environment.AGENT_TURN === undefined ? null : wish.runId;
    const ending: Promise<void>[] = [];
    const abort = (): void => {
      ending.push(endProcesses(pid, graceMs, agentOf));
    };
    signal.addEventListener("abort", abort, { once: true });
    try {
      await started.add(wish.runId, pid);
      if (!signal.aborted) open(child, wish.input);
      const end = await exit;
      if (signal.aborted) return { kind: "aborted" };
      await Promise.race([closed, sleep(lastWordsMs, undefined, { ref: false })]);
      return end;
    } finally {
      signal.removeEventListener("abort", abort);
      // What the command left running ends with it.
      await Promise.all(ending.length > 0 ? ending : [endProcesses(pid, graceMs, agentOf)]);
      for (const stream of child.stdio) stream?.destroy();
      await started.remove(wish.runId);
    }
  };
}

function start({ command, folder, environment }: ProcessWish): ChildProcess {
  const options = {
    // A process group of its own, so that everything the command starts can be ended with it.
    detached: gated,
    cwd: folder,
    env: environment,
    stdio: ["pipe", "pipe", "pipe", "pipe"] as ["pipe", "pipe", "pipe", "pipe"],
    windowsHide: true,
  };
  if ("line" in command)
    return spawn(gated ? gate + command.line : command.line, { ...options, shell: true });
  const { program, args } = command;
  return gated
    ? spawn("/bin/sh", ["-c", `${gate}exec "$@"`, "sh", program, ...args], options)
    : spawn(program, args, options);
}

/** Lets the command begin. A command need not read its input. */
function open(child: ChildProcess, input: string): void {
  const door = child.stdio[3];
  if (door instanceof Writable) door.on("error", () => undefined).end("\n");
  child.stdin?.on("error", () => undefined).end(input);
}

const exitOf = (child: ChildProcess): Promise<ProcessEnd> =>
  new Promise((resolve) => {
    child.once("exit", (code, by) =>
      resolve(by === null ? { kind: "exited", code } : { kind: "killed", by }),
    );
    child.on("error", (error) => {
      if (child.pid === undefined) resolve({ kind: "unstarted", error });
    });
  });

function read(stream: ChildProcess["stdout"], write: (text: string) => void): void {
  stream?.setEncoding("utf8");
  stream?.on("error", () => undefined).on("data", write);
}
