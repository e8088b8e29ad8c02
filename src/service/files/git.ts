import type { RunProcess } from "#service/processes/run-process.ts";
import { createTextTail } from "#service/processes/text-tail.ts";

/** `output` is what it wrote to stdout; `complaint` the last lines of all it wrote. */
export type GitEnd =
  | { readonly kind: "done"; readonly output: string }
  | { readonly kind: "failed"; readonly complaint: string }
  | { readonly kind: "aborted" };

/** `args` after `git`; `runId` is whose process it is; `most` is how much of the output's end is kept. */
export type Git = (
  wish: {
    readonly runId: string;
    readonly folder: string;
    readonly args: readonly string[];
    readonly most?: number;
  },
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<GitEnd>;

const mostOutput = 20_000;

/**
 * Hooks and monitors of the repository don't run, and what git would do later in the background it does at
 * once, so that it has ended when its process has.
 */
const settings = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "gc.autoDetach=false",
  "maintenance.autoDetach=false",
  "advice.detachedHead=false",
].flatMap((each) => ["-c", each]);

/** What makes git speak of another repository than that of its folder; git itself sets them for hooks. */
const misleading =
  /^GIT_(DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|PREFIX)$/i;

/** The environment without what would lead a git that runs in it astray. */
export const withoutGitPlace = <T>(environment: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !misleading.test(name)));

/** Git, which asks nobody anything: where a password is missing it fails. */
export const createGit =
  (run: RunProcess): Git =>
  async ({ runId, folder, args, most = mostOutput }, environment, signal) => {
    // As it is: lists have NULs between their items.
    const stdout = createTextTail(most, (text) => text);
    const all = createTextTail(mostOutput);
    const quiet = { GIT_TERMINAL_PROMPT: "0", GCM_INTERACTIVE: "never", LC_ALL: "C" };
    const end = await run(
      {
        runId,
        command: { program: "git", args: [...settings, ...args] },
        folder,
        environment: { ...withoutGitPlace(environment), ...quiet },
        input: "",
      },
      signal,
      {
        stdout: (text) => {
          stdout.add(text);
          all.add(text);
        },
        stderr: all.add,
      },
    );
    switch (end.kind) {
      case "exited":
        return end.code === 0
          ? { kind: "done", output: stdout.text() }
          : { kind: "failed", complaint: lastLines(all.text()) };
      case "killed":
        return { kind: "failed", complaint: `git was ended by ${end.by}` };
      case "unstarted":
        return { kind: "failed", complaint: "git could not be started" };
      case "aborted":
        return { kind: "aborted" };
      default:
        return end satisfies never;
    }
  };

const mostLines = 5;

/** The last lines of what a command wrote, for people. */
export const lastLines = (text: string): string => text.trim().split("\n").slice(-mostLines).join("\n");
