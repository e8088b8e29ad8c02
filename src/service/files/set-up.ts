import type { EnvironmentSpec } from "#service/catalog.ts";
import type { ProcessEnd, ProcessRequest, RunProcess } from "#service/processes/run-process.ts";
import { createTextTail } from "#service/processes/text-tail.ts";
import { lastLines } from "./git.ts";

const mostOutput = 8_000;

/** Runs the environment's set-up commands in the folder until one fails. */
export async function setUp(
  { runId, folder, environment }: Pick<ProcessRequest, "runId" | "folder" | "environment">,
  spec: EnvironmentSpec,
  run: RunProcess,
  signal: AbortSignal,
): Promise<
  | { readonly kind: "ready" }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "aborted" }
> {
  for (const line of spec.setup) {
    const output = createTextTail(mostOutput);
    const request = { runId, command: { line }, folder, environment, input: "" };
    const end = await run(request, signal, { stdout: output.add, stderr: output.add });
    if (end.kind === "aborted") return end;
    const fault = faultOf(end);
    if (fault === null) continue;
    const words = lastLines(output.text());
    const reason = `The set-up of ${spec.id} failed: ${line} ${fault}`;
    return { kind: "failed", reason: words === "" ? `${reason}.` : `${reason}: ${words}` };
  }
  return { kind: "ready" };
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
