/** Imports one of the two clients, makes a call, and prints the time of each step since before the import. */
import { endWithParent } from "#bench/world/ground.ts";

endWithParent();
const [, , which, baseUrl = ""] = process.argv;
const apiKey = "wk-0123456789-bench";
const started = performance.now();
const since = (): string => (performance.now() - started).toFixed(2);

if (which === "sdk") {
  const { default: OzAPI } = await import("oz-agent-sdk");
  const imported = since();
  await new OzAPI({ baseURL: baseUrl, apiKey }).agent.runs.retrieve("run-1");
  process.stdout.write(`imported ${imported} answered ${since()}\n`);
} else {
  const { createAgentRunsClient } = await import("#agent-runs/client.ts");
  const imported = since();
  await createAgentRunsClient({ baseUrl, apiKey }).fetch("run-1");
  process.stdout.write(`imported ${imported} answered ${since()}\n`);
}
process.exit(0);
