/** Folders on the measured disk and processes for a part of the bench. They are removed when it ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const comesWithinMs = 60_000;
const endsWithinMs = 15_000;

export interface Started {
  readonly pid: number;
  /** Resolves with the first match in the output; rejects if the process ends first, or after a minute. */
  wrote(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends SIGTERM, then SIGKILL if necessary; resolves when the process has ended. */
  end(): Promise<void>;
}

export interface Ground extends Disposable {
  /** A new, empty folder. */
  folder(): string;
  /**
   * Starts a script of the repository, given by its path there, in its own process. Its standard input ends with
   * this process, so that it can end too. `cwd`: by default a new folder, so that no `.env` is read.
   */
  start(script: string, options?: StartOptions): Started;
}

export interface StartOptions {
  readonly args?: readonly string[];
  /** Flags of Node itself. */
  readonly flags?: readonly string[];
  /** The whole environment besides PATH. */
  readonly env?: Readonly<Record<string, string>>;
}

/** `dir`: the parent of the folders. */
export function createGround(dir: string): Ground {
  const folders: string[] = [];
  const children = new Set<ChildProcess>();
  const clear = (): void => {
    for (const child of children) child.kill("SIGKILL");
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  process.once("exit", clear);

  function folder(): string {
    const made = mkdtempSync(join(dir, "agent-runs-bot-bench-"));
    folders.push(made);
    return made;
  }

  return {
    folder,
    start(script, { args = [], flags = [], env = {} } = {}) {
      const { PATH = "" } = process.env;
      const child = spawn(process.execPath, [...flags, join(root, script), ...args], {
        cwd: folder(),
        env: { PATH, ...env },
        stdio: ["pipe", "pipe", "pipe"],
      });
      children.add(child);
      return startedOf(child, script, () => children.delete(child));
    },
    [Symbol.dispose]() {
      process.off("exit", clear);
      clear();
    },
  };
}

function startedOf(child: ChildProcess, script: string, onGone: () => void): Started {
  let text = "";
  let gone = false;
  const looks = new Set<() => void>();
  const look = (): void => {
    for (const each of looks) each();
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (more: string) => {
      text += more;
      look();
    });
  }
  child.once("close", () => {
    gone = true;
    onGone();
    look();
  });

  return {
    pid: child.pid ?? 0,
    wrote: (pattern) =>
      new Promise((resolve, reject) => {
        const fail = (why: string): void => done(() => reject(new Error(`${script} ${why}: ${text}`)));
        const late = setTimeout(() => fail(`did not write ${pattern} in time`), comesWithinMs);
        const done = (tell: () => void): void => {
          clearTimeout(late);
          looks.delete(seek);
          tell();
        };
        const seek = (): void => {
          const match = pattern.exec(text);
          if (match !== null) done(() => resolve(match));
          else if (gone) fail(`ended before it wrote ${pattern}`);
        };
        looks.add(seek);
        seek();
      }),
    async end() {
      if (gone) return;
      const closed = once(child, "close");
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), endsWithinMs);
      await closed;
      clearTimeout(late);
    },
  };
}

/** Ends this process of the bench when its parent has ended. */
export function endWithParent(): void {
  process.stdin.on("end", () => process.exit(0)).on("error", () => process.exit(0));
  process.stdin.resume();
}
