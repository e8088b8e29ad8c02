import { faultOf, type RunProcess } from "#service/processes/run-process.ts";
import { createTextTail, lastLines } from "#service/processes/text-tail.ts";

/** `output` is the end of stdout; `complaint` the last lines of stdout and stderr. */
export type GitEnd =
  | { readonly kind: "done"; readonly output: string }
  | { readonly kind: "failed"; readonly complaint: string }
  | { readonly kind: "aborted" };

/** A call of `git` as a process of the run. `most`: the characters of stdout that are kept, from its end. */
export interface GitCall {
  readonly runId: string;
  readonly folder: string;
  readonly args: readonly string[];
  readonly most?: number;
}

const mostOutput = 20_000;

/**
 * Disables hooks and monitors of the repository, and maintenance in the background, which would outlive git's
 * process.
 */
const settings = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "gc.autoDetach=false",
  "maintenance.autoDetach=false",
  "advice.detachedHead=false",
].flatMap((each) => ["-c", each]);

/** Variables that point git to another repository than its folder's. Git itself sets them for hooks. */
const misleading =
  /^GIT_(DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|PREFIX)$/i;

/** The environment without variables that point git to another repository. */
export const withoutGitPlace = <T>(environment: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !misleading.test(name)));

/** Runs git without prompts, so that it fails instead of asking for a password. */
export type Git = ReturnType<typeof createGit>;

export const createGit =
  (run: RunProcess) =>
  async (
    { runId, folder, args, most = mostOutput }: GitCall,
    environment: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<GitEnd> => {
    // Not cleaned, because git separates the items of lists by NUL.
    const stdout = createTextTail(most, (text) => text);
    const all = createTextTail(mostOutput);
    const quiet = { GIT_TERMINAL_PROMPT: "0", GCM_INTERACTIVE: "never", LC_ALL: "C" };
    const end = await run(
      {
        runId,
        command: { program: "git", args: [...settings, ...args] },
        folder,
        environment: { ...withoutGitPlace(environment), ...quiet },
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
    if (end.kind === "aborted") return end;
    const fault = faultOf(end);
    if (fault === null) return { kind: "done", output: stdout.text() };
    return { kind: "failed", complaint: lastLines(all.text()) || `git ${fault}` };
  };
