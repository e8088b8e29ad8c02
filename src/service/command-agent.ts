import { type ChildProcess, spawn } from "node:child_process";
import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Agent, Turn, TurnEnd } from "./agent.ts";
import { agentEnvironment } from "./agent-environment.ts";
import type { ServiceLog } from "./log.ts";
import { endGroup } from "./process-group.ts";
import type { StartedProcesses } from "./started-processes.ts";
import { createTextTail } from "./text-tail.ts";

export interface CommandAgentOptions {
  /** Run by the shell. */
  readonly command: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: number;
  readonly started: StartedProcesses;
  readonly log: ServiceLog;
}

/**
 * A line before the command that holds it up until its process is written down. If the service dies before
 * that, the line reads the end of the pipe and the command never begins.
 */
const gate = "IFS= read -r go <&3 || exit 1; exec 3<&-\n";
const gated = process.platform !== "win32";

const mostStderr = 4_000;
const mostReasonLines = 5;
/** How long what a command left behind may still write once the command itself has ended. */
const lastWordsMs = 500;

type Exit =
  | { readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly error: Error };

/** The operator's command as the agent: the input on stdin, the answer on stdout, exit code 0 for success. */
export function createCommandAgent(options: CommandAgentOptions): Agent {
  const { environment, graceMs, started, log } = options;

  function start(turn: Turn): ChildProcess {
    return spawn(gated ? gate + options.command : options.command, {
      shell: true,
      // A process group of its own, so that everything the command starts can be ended with it.
      detached: gated,
      cwd: turn.folder,
      env: agentEnvironment(environment, turn),
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      windowsHide: true,
    });
  }

  return {
    async work(turn, signal, write) {
      if (signal.aborted) return { kind: "aborted" };
      let child: ChildProcess;
      try {
        child = start(turn);
      } catch (error) {
        log.error("the agent's command could not be started", { runId: turn.runId, error });
        return { kind: "broken", reason: "The agent's command could not be started." };
      }
      const { pid } = child;
      const exit = exitOf(child);
      const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
      const stderr = createTextTail(mostStderr);
      read(child.stdout, write);
      read(child.stderr, (text) => stderr.add(text));
      if (pid === undefined) return ended(await exit, "", turn, log);

      const ending: Promise<void>[] = [];
      const abort = (): void => {
        ending.push(endGroup(pid, graceMs));
      };
      signal.addEventListener("abort", abort, { once: true });
      try {
        await started.add(turn.runId, pid);
        if (!signal.aborted) open(child, turn.input);
        const how = await exit;
        if (signal.aborted) return { kind: "aborted" };
        await Promise.race([closed, sleep(lastWordsMs, undefined, { ref: false })]);
        return ended(how, stderr.text(), turn, log);
      } finally {
        signal.removeEventListener("abort", abort);
        // What the command left running in its group ends with it.
        await Promise.all(ending.length > 0 ? ending : [endGroup(pid, graceMs)]);
        for (const stream of child.stdio) stream?.destroy();
        await started.remove(turn.runId);
      }
    },
  };
}

/** Lets the command begin. A command need not read its input. */
function open(child: ChildProcess, input: string): void {
  const door = child.stdio[3];
  if (door instanceof Writable) door.on("error", () => undefined).end("\n");
  child.stdin?.on("error", () => undefined).end(input);
}

const exitOf = (child: ChildProcess): Promise<Exit> =>
  new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.on("error", (error) => {
      if (child.pid === undefined) resolve({ error });
    });
  });

function read(stream: ChildProcess["stdout"], write: (text: string) => void): void {
  stream?.setEncoding("utf8");
  stream?.on("error", () => undefined).on("data", write);
}

function ended(how: Exit, stderr: string, turn: Turn, log: ServiceLog): TurnEnd {
  if ("error" in how) {
    log.error("the agent's command could not be started", { runId: turn.runId, error: how.error });
    return { kind: "broken", reason: "The agent's command could not be started." };
  }
  if (how.code === 0) return { kind: "finished" };
  const fact =
    how.signal === null
      ? `The agent's command ended with exit code ${how.code}`
      : `The agent's command was ended by ${how.signal}`;
  const lines = stderr.trim().split("\n").slice(-mostReasonLines).join("\n");
  return { kind: "failed", reason: lines === "" ? `${fact}.` : `${fact}: ${lines}` };
}
