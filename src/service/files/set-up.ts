import type { EnvironmentSpec } from "#service/catalog.ts";
import type { ProcessEnd, RunProcess } from "#service/processes/run-process.ts";
import { createTextTail } from "#service/processes/text-tail.ts";
import { lastLines } from "./git.ts";

export interface SetUp {
  readonly runId: string;
  readonly spec: EnvironmentSpec;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

const mostOutput = 8_000;

/** Runs the environment's set-up commands in the folder, until one fails. */
export async function setUp(
  { runId, spec, folder, environment }: SetUp,
  run: RunProcess,
  signal: AbortSignal,
): Promise<
  | { readonly kind: "ready" }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "aborted" }
> {
  for (const line of spec.setup) {
    const output = createTextTail(mostOutput);
    const wish = { runId, command: { line }, folder, environment, input: "" };
    const end = await run(wish, signal, { stdout: output.add, stderr: output.add });
    if (end.kind === "aborted") return end;
    const fact = faultOf(end);
    if (fact === null) continue;
    const words = lastLines(output.text());
    const reason = `The set-up of ${spec.id} failed: ${line} ${fact}`;
    return { kind: "failed", reason: words === "" ? `${reason}.` : `${reason}: ${words}` };
  }
  return { kind: "ready" };
}

/** What went wrong with a process; null if nothing did. */
export function faultOf(end: Exclude<ProcessEnd, { kind: "aborted" }>): string | null {
  switch (end.kind) {
    case "exited":
      return end.code === 0 ? null : `ended with exit code ${end.code}`;
    case "killed":
      return `was ended by ${end.by}`;
    case "unstarted":
      return "could not be started";
    default:
      return end satisfies never;
  }
}
