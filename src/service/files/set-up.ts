import type { EnvironmentSpec } from "#service/catalog.ts";
import { faultOf, type ProcessRequest, type RunProcess } from "#service/processes/run-process.ts";
import { createTextTail, lastLines } from "#service/processes/text-tail.ts";

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
    const request = { runId, command: { line }, folder, environment };
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
