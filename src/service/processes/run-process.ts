import { type ChildProcess, spawn } from "node:child_process";
import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { endProcesses } from "./process-group.ts";
import type { StartedProcesses } from "./started-processes.ts";

/** A line for the shell, or a program with arguments and no shell. */
export type Command =
  | { readonly line: string }
  | { readonly program: string; readonly args: readonly string[] };

/** A process to run. */
export interface ProcessRequest {
  /** The run that the process belongs to; a run has one at a time. */
  readonly runId: string;
  readonly command: Command;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Its stdin; absent: empty. */
  readonly input?: string;
}

/** `unstarted`: it could not be started. `aborted`: the abort signal ended it. */
export type ProcessEnd =
  | { readonly kind: "exited"; readonly code: number | null }
  | { readonly kind: "killed"; readonly by: NodeJS.Signals }
  | { readonly kind: "unstarted"; readonly error: unknown }
  | { readonly kind: "aborted" };

/**
 * A line before the command that makes it wait until its process is recorded (started-processes.ts). If the
 * service dies before that, the pipe closes and the command never begins.
 */
const gate = "IFS= read -r go <&3 || exit 1; exec 3<&-\n";
const gated = process.platform !== "win32";

/** The time for leftover processes to finish writing after the command has ended. */
const lastOutputMs = 500;

/** Receives a process's output as it comes. */
interface Output {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

/**
 * Runs a process in a group of its own without a terminal. When the process ends or `signal` is aborted,
 * everything that it has started is ended too; resolves after that.
 */
export type RunProcess = ReturnType<typeof createRunProcess>;

/** `graceMs`: the time between SIGTERM and SIGKILL. */
export function createRunProcess(started: StartedProcesses, graceMs: number) {
  return async (request: ProcessRequest, signal: AbortSignal, output: Output): Promise<ProcessEnd> => {
    if (signal.aborted) return { kind: "aborted" };
    let child: ChildProcess;
    try {
      child = start(request);
    } catch (error) {
      return { kind: "unstarted", error };
    }
    const { pid } = child;
    const exit = exitOf(child);
    const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
    read(child.stdout, output.stdout);
    read(child.stderr, output.stderr);
    if (pid === undefined) return exit;

    // Only agents have a turn, and only their processes are recognised after they have left the group.
    const agentOf = request.environment.AGENT_TURN === undefined ? null : request.runId;
    const ending: Promise<void>[] = [];
    const abort = (): void => {
      ending.push(endProcesses(pid, graceMs, agentOf));
    };
    signal.addEventListener("abort", abort, { once: true });
    try {
      await started.add(request.runId, pid);
      if (!signal.aborted) open(child, request.input);
      const end = await exit;
      if (signal.aborted) return { kind: "aborted" };
      await Promise.race([closed, sleep(lastOutputMs, undefined, { ref: false })]);
      return end;
    } finally {
      signal.removeEventListener("abort", abort);
      await Promise.all(ending.length > 0 ? ending : [endProcesses(pid, graceMs, agentOf)]);
      for (const stream of child.stdio) stream?.destroy();
      await started.remove(request.runId);
    }
  };
}

function start({ command, folder, environment }: ProcessRequest): ChildProcess {
  const options = {
    // In a process group of its own, everything that the command starts can be ended with it.
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

/** Lets the command begin. Errors of its pipes are ignored, because it may close them unread. */
function open(child: ChildProcess, input = ""): void {
  const gatePipe = child.stdio[3];
  if (gatePipe instanceof Writable) gatePipe.on("error", () => undefined).end("\n");
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

/** The fault of a process, as the end of a sentence; null if it succeeded. */
export function faultOf(end: Exclude<ProcessEnd, { kind: "aborted" }>): string | null {
  switch (end.kind) {
    case "exited":
      return end.code === 0 ? null : `ended with exit code ${end.code}`;
    case "killed":
      return `was stopped by ${end.by}`;
    case "unstarted":
      return "could not be started";
    default:
      return end satisfies never;
  }
}
